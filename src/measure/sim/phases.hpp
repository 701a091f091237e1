// The phases of a simulated case, one file each.
#pragma once

#include "measure/backend.hpp"
#include "model/predict.hpp"

namespace attnprof::sim {

// prepare.cpp: why a case that the device can run cannot be simulated, as a sentence: a variant of one's own
// has no schedule.
std::optional<std::string> why_not_simulated(const Case& c, const DeviceProfile& device);

// prepare.cpp: the launch as columns. Throws CaseSkipped, with the numbers, for what the device could not
// run.
Build prepare(const Case& c, const BackendInfo& info);

// verify.cpp: runs the schedule's arithmetic and holds it against the fp64 reference; `unchecked` above
// max_verified_flops and with VerifyMode::off.
inline constexpr int64_t max_verified_flops = 2'200'000'000;  // N = 512, d = 128, 16 heads
Verification verify(const Case& c, const DeviceProfile& device, const MeasureOptions& options);

// time.cpp: the latency model; `model`, one figure, no samples.
Latency time(const Prediction& prediction, const DeviceProfile& device);

// count.cpp: the model's traffic in the counters' columns.
Counters count(const Prediction& prediction, CounterMode mode);

}  // namespace attnprof::sim
