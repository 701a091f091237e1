#include <fmt/format.h>

#include "base/error.hpp"
#include "base/overloaded.hpp"
#include "measure/sim/phases.hpp"
#include "model/simulate.hpp"
#include "model/step_time.hpp"
#include "plan/skip.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof::sim {
namespace {

void fill_kernel(Build& build, const KernelLaunch& kernel, const StepPrediction& predicted,
                 const DeviceProfile& device) {
  build.ctas = predicted.ctas;
  build.threads_per_cta = kernel.threads;
  build.smem_bytes = kernel.smem_bytes;
  const double resident = predicted.resident_ctas_per_sm;
  build.theoretical_occupancy_pct = 100.0 * resident * kernel.threads / device.max_threads_per_sm;
  build.waves = static_cast<double>(predicted.ctas) / (resident * device.sms);
}

void fill_launch(Build& build, const Step& step, const StepPrediction& predicted,
                 const DeviceProfile& device) {
  std::visit(overloaded{[&](const KernelLaunch& kernel) { fill_kernel(build, kernel, predicted, device); },
                        [](const GemmLaunch&) {},  // a library's launch is its own
                        [](const MemsetLaunch&) {}, [](const PluginLaunch&) {}},
             step.launch);
}

}  // namespace

std::optional<std::string> why_not_simulated(const Case& c, const DeviceProfile& device,
                                             const MeasureOptions& options) {
  const Prediction prediction = predict_steps(c, device, predict_limits(options));
  if (prediction.not_simulated) return prediction.not_simulated->why;
  if (c.variant->origin.empty() || prediction.scheduled) return std::nullopt;
  return fmt::format("{} has no schedule that could be simulated; measure it with --backend gpu",
                     c.variant->name);
}

Build prepare(const Case& c, const BackendInfo& info, const MeasureOptions& options) {
  if (const auto reason = skip_reason(c, info.device, info.free_bytes)) throw CaseSkipped(*reason);
  const Prediction prediction = predict_steps(c, info.device, predict_limits(options));
  if (prediction.not_simulated && prediction.not_simulated->timed_out)
    throw CaseFailed(prediction.not_simulated->why);
  if (const auto reason = why_not_simulated(c, info.device, options)) throw CaseSkipped(*reason);
  const std::vector<Step> steps = timed_steps(c);
  Build build;
  build.launches = static_cast<int64_t>(steps.size());
  build.workspace_bytes = workspace_bytes(c.operands);
  if (prediction.steps.empty()) return build;
  const size_t longest = longest_step(prediction, info.device);
  fill_launch(build, steps[longest], prediction.steps[longest], info.device);
  return build;
}

}  // namespace attnprof::sim
