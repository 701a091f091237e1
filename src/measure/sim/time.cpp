#include "measure/sim/phases.hpp"
#include "model/step_time.hpp"

namespace attnprof::sim {

Latency time(const Prediction& prediction, const DeviceProfile& device) {
  Latency latency;
  if (!prediction.scheduled) return latency;
  latency.latency_source = "model";
  double ns = 0;
  for (const StepPrediction& step : prediction.steps) ns += step_time_ns(step, device);
  latency.median_ns = ns;
  return latency;
}

}  // namespace attnprof::sim
