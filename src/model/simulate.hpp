// One pass of a case's timed steps through the SM counters and the L2 model.
#pragma once

#include <vector>

#include "base/deadline.hpp"
#include "model/predict.hpp"

namespace attnprof {

// A part of a case: its first slices. `copies` such parts run side by side on the device and are alike; the
// result is of all of them.
struct Part {
  Case c;
  double copies = 1;
};

struct Simulation {
  std::vector<StepPrediction> steps;
  double settled_write_bytes = 0;
};

// Thrown before anything of a part is simulated that would take more of the host's memory than is allowed.
struct TooMuchMemory {
  double bytes;
};

// All timed steps must have a schedule. Throws TooMuchMemory, and OutOfTime at the deadline.
Simulation simulate(const Part& part, const DeviceProfile& device, const PredictLimits& limits,
                    const Deadline& deadline);

// The first `kv_slices` (batch, kv head) slices of a case, with the query heads that belong to them.
Case first_slices(const Case& c, int64_t kv_slices, const DeviceProfile& device);

}  // namespace attnprof
