// The phases of a simulated case, one file each.
#pragma once

#include "measure/backend.hpp"
#include "model/predict.hpp"

namespace attnprof::sim {

// Of a case's prediction: the time that a user allows is the failsafe of what was thought to be quick.
inline PredictLimits predict_limits(const MeasureOptions& options) {
  return {.seconds = options.case_timeout_s};
}

// prepare.cpp: why a case that the device can run cannot be simulated, as a sentence: a variant of one's own
// has no schedule, or it is too large.
std::optional<std::string> why_not_simulated(const Case& c, const DeviceProfile& device,
                                             const MeasureOptions& options);

// prepare.cpp: the launch as columns. Throws CaseSkipped, with the numbers, for what the device could not
// run and what is too large, CaseFailed for what took too long.
Build prepare(const Case& c, const BackendInfo& info, const MeasureOptions& options);

// verify.cpp: runs the schedule's arithmetic and holds it against the fp64 reference; `unchecked` above
// max_verified_flops or max_verified_bytes and with VerifyMode::off.
inline constexpr int64_t max_verified_flops = 2'200'000'000;  // N = 512, d = 128, 16 heads
inline constexpr double max_verified_bytes = 1e9;             // of the host's memory
Verification verify(const Case& c, const MeasureOptions& options);

// time.cpp: the latency model; `model`, one figure, no samples.
Latency time(const Prediction& prediction, const DeviceProfile& device);

// count.cpp: the model's traffic in the counters' columns.
Counters count(const Prediction& prediction, CounterMode mode);

}  // namespace attnprof::sim
