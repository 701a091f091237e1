#include "model/step_time.hpp"

#include <algorithm>

#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// How much longer the busiest SM works than if blocks were spread without remainder.
double wave_quantisation(const StepPrediction& step, const DeviceProfile& device) {
  return static_cast<double>(ceil_div(step.ctas, device.sms)) * device.sms / static_cast<double>(step.ctas);
}

// A device whose fp8 rate is not known is taken to have the 16-bit one: it has at least that.
double tensor_ns(const StepPrediction& step, const DeviceProfile& device) {
  const double known = tensor_tflops(device, step.tensor_dtype);
  return step.tensor_flops / ((known > 0 ? known : device.tensor_16bit_tflops) * 1e3);
}

double l2_ns(const StepPrediction& step, const DeviceProfile& device) {
  const double bytes = step.sm_read_bytes + step.sm_write_bytes;
  const auto busy_sms = static_cast<double>(std::min<int64_t>(step.ctas, device.sms));
  const double links_gbps = busy_sms * sm_link_bytes * device.sm_clock_mhz / 1e3;
  return bytes / std::min(device.l2_gbps, links_gbps);
}

}  // namespace

double step_time_ns(const StepPrediction& step, const DeviceProfile& device) {
  const double launch_ns = device.launch_us * 1e3;
  if (step.ctas == 0) return launch_ns;
  const double sm_ns = std::max({tensor_ns(step, device), step.fma_flops / (device.fp32_tflops * 1e3),
                                 step.exponentials / device.exp_gops}) *
                       wave_quantisation(step, device);
  const double hbm_ns = (step.hbm_read_bytes + step.hbm_write_bytes) / device.hbm_gbps;
  return launch_ns + std::max({sm_ns, hbm_ns, l2_ns(step, device)});
}

size_t longest_step(const Prediction& prediction, const DeviceProfile& device) {
  const auto& steps = prediction.steps;
  const auto longest = std::ranges::max_element(
      steps, {}, [&](const StepPrediction& step) { return step_time_ns(step, device); });
  return static_cast<size_t>(longest - steps.begin()) % std::max<size_t>(steps.size(), 1);
}

}  // namespace attnprof
