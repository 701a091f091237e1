#include <cmath>

#include "measure/sim/phases.hpp"

namespace attnprof::sim {

Counters count(const Prediction& prediction, CounterMode mode) {
  Counters counters;
  counters.bytes_source = "none";
  if (!prediction.scheduled || mode == CounterMode::off) return counters;
  counters.bytes_source = "sim";
  double hbm_read = 0, hbm_write = 0, sm_read = 0, sm_write = 0, tensor = 0;
  for (const StepPrediction& step : prediction.steps) {
    hbm_read += step.hbm_read_bytes;
    hbm_write += step.hbm_write_bytes;
    sm_read += step.sm_read_bytes;
    sm_write += step.sm_write_bytes;
    tensor += step.tensor_flops;
  }
  counters.hbm_total = prediction.model.hbm_bytes;
  counters.hbm_read = std::llround(hbm_read);
  counters.hbm_write = *counters.hbm_total - *counters.hbm_read;
  counters.hbm_write_in_kernel = std::llround(hbm_write);
  counters.sm_read = std::llround(sm_read);
  counters.sm_write = std::llround(sm_write);
  counters.sm_total = *counters.sm_read + *counters.sm_write;
  counters.executed_tensor_flops = std::llround(tensor);
  return counters;
}

}  // namespace attnprof::sim
