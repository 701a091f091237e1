#include <fmt/format.h>

#include <algorithm>

#include "error.hpp"
#include "measure/sim/phases.hpp"
#include "model/occupancy.hpp"
#include "model/simulate.hpp"
#include "model/step_time.hpp"

namespace attnprof::sim {
namespace {

constexpr int max_threads_per_block = 1024;

// What a driver would refuse to launch.
void check_launch(const Step& step, const DeviceProfile& device) {
  const auto* kernel = std::get_if<KernelLaunch>(&step.launch);
  if (!kernel) return;
  if (kernel->smem_bytes > device.smem_per_block_bytes)
    throw CaseSkipped(fmt::format("step {} needs {} B of shared memory a block, {} allows {}", step.name,
                                  kernel->smem_bytes, device.name, device.smem_per_block_bytes));
  if (kernel->threads > max_threads_per_block)
    throw CaseSkipped(fmt::format("step {} needs {} threads a block, a block has at most {}", step.name,
                                  kernel->threads, max_threads_per_block));
}

// Operands, workspace, and on a GPU the buffer that is read to evict L2.
void check_memory(const std::vector<Operand>& operands, const BackendInfo& info) {
  const int64_t needed = total_bytes(operands) + 4 * info.device.l2_bytes;
  if (needed > info.free_bytes)
    throw CaseSkipped(fmt::format("needs {} B of device memory, {} B are free", needed, info.free_bytes));
}

int64_t workspace_bytes(const std::vector<Operand>& operands) {
  int64_t bytes = 0;
  for (const Operand& operand : operands)
    if (operand.role == Role::workspace) bytes += operand.bytes();
  return bytes;
}

void fill_launch(Build& build, const Step& step, const StepPrediction& predicted,
                 const DeviceProfile& device) {
  build.ctas = predicted.ctas;
  const auto* kernel = std::get_if<KernelLaunch>(&step.launch);
  if (!kernel) return;  // a library's launch is its own
  build.threads_per_cta = kernel->threads;
  build.smem_bytes = kernel->smem_bytes;
  const double resident = predicted.resident_ctas_per_sm;
  build.theoretical_occupancy_pct = 100.0 * resident * kernel->threads / device.max_threads_per_sm;
  build.waves = static_cast<double>(predicted.ctas) / (resident * device.sms);
}

}  // namespace

Build prepare(const Case& c, const BackendInfo& info) {
  const std::vector<Operand> operands = case_operands(*c.variant, c.problem, c.tile);
  const std::vector<Step> steps = timed_steps(c, info.device);
  for (const Step& step : steps) check_launch(step, info.device);
  check_memory(operands, info);
  Build build;
  build.launches = static_cast<int64_t>(steps.size());
  build.workspace_bytes = workspace_bytes(operands);
  const Prediction prediction = predict_steps(c, info.device);
  if (prediction.steps.empty()) return build;
  const size_t longest = longest_step(prediction, info.device);
  fill_launch(build, steps[longest], prediction.steps[longest], info.device);
  return build;
}

}  // namespace attnprof::sim
