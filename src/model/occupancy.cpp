#include "model/occupancy.hpp"

#include <algorithm>

#include "variants/tiling.hpp"

namespace attnprof {
namespace {

constexpr int warp_threads = 32;
constexpr int64_t system_smem_bytes = 1024;
constexpr int64_t register_unit = 256;
constexpr int memset_threads = 512;
constexpr int gemm_threads = 384;

}  // namespace

int resident_ctas_per_sm(const BlockNeeds& needs, const DeviceProfile& device) {
  if (needs.threads < 1 || needs.smem_bytes > device.smem_per_block_bytes) return 0;
  const int64_t warps = ceil_div(needs.threads, warp_threads);
  int64_t ctas =
      std::min<int64_t>(device.max_ctas_per_sm, device.max_threads_per_sm / (warps * warp_threads));
  ctas = std::min(ctas, device.smem_per_sm_bytes / (needs.smem_bytes + system_smem_bytes));
  const int64_t warp_registers = round_up(int64_t{needs.registers} * warp_threads, register_unit);
  if (warp_registers > 0) ctas = std::min(ctas, device.registers_per_sm / (warp_registers * warps));
  return static_cast<int>(ctas);
}

BlockNeeds block_needs(const Step& step, const DeviceProfile& device) {
  if (const auto* kernel = std::get_if<KernelLaunch>(&step.launch))
    return {kernel->threads, kernel->expected_registers, kernel->smem_bytes};
  if (std::holds_alternative<GemmLaunch>(step.launch)) return {gemm_threads, 0, device.smem_per_block_bytes};
  return {memset_threads, 0, 0};
}

}  // namespace attnprof
