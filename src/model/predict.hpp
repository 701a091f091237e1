// Bytes by level and executed FLOPs of a case, from its schedule alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/device_profile.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// What one timed launch does and moves.
struct StepPrediction {
  std::string name;
  bool exact = true;  // its tiles are ours (Schedule::exact)
  int64_t ctas = 0;
  int resident_ctas_per_sm = 0;
  double sm_read_bytes = 0;
  double sm_write_bytes = 0;
  double intermediate_bytes = 0;  // the part of SM traffic that is S and P
  double hbm_read_bytes = 0;
  double hbm_write_bytes = 0;  // until the launch has ended
  double tensor_flops = 0;
  Dtype tensor_dtype = Dtype::fp16;  // of their operands: the case's
  double fma_flops = 0;
  double exponentials = 0;
};

// Why the steps of a case have schedules and yet no bytes are known.
struct NotSimulated {
  std::string why;         // the end of a sentence
  bool timed_out = false;  // found out by trying; else known beforehand
};

struct Prediction {
  Model model;
  std::vector<StepPrediction> steps;
  bool scheduled = true;  // every timed step has a schedule; without, bytes are not known
  std::optional<NotSimulated> not_simulated = std::nullopt;
  double settled_write_bytes = 0;  // dirty in L2 after the last step
};

// How much of a case is run; the defaults suit everything but tests.
struct PredictLimits {
  int64_t accesses =
      8'000'000;  // above: alike (batch, kv head) slices are run for some and carried over to all
  int64_t chunks = 4'000'000;  // above: the L2 model's chunks are coarsened
  // What is not simulated at all: more accesses than this after all that, more of the host's memory, or
  // what takes longer than was thought (--case-timeout).
  int64_t most_accesses = 1'000'000'000;
  double host_bytes = 1.5e9;
  double seconds = 30;
};

// Runs every timed step's schedule on the counting machine, blocks in waves as on `device`, from the case's
// cache state: cold, or warm, which is this operation having just run and its writes settled. The last
// prediction is kept, so asking again for the same case costs nothing.
Prediction predict_steps(const Case& c, const DeviceProfile& device, const PredictLimits& limits = {});
inline Model predict(const Case& c, const DeviceProfile& device, const PredictLimits& limits = {}) {
  return predict_steps(c, device, limits).model;
}

}  // namespace attnprof
