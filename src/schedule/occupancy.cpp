#include "schedule/occupancy.hpp"

#include <algorithm>

#include "base/overloaded.hpp"
#include "device/architectures.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

constexpr int warp_threads = 32;
constexpr int64_t system_smem_bytes = 1024;  // from sm_80 on
constexpr int64_t register_unit = 256;
constexpr int memset_threads = 512;
constexpr int gemm_threads = 384;
constexpr int64_t partitions = 4;  // of an SM, each with its share of the registers

// A warp's registers lie in one partition, and a block's warps are spread over all of them.
int64_t ctas_by_registers(int registers, int64_t warps, const DeviceProfile& device) {
  const int64_t warp_registers = round_up(int64_t{registers} * warp_threads, register_unit);
  if (warp_registers == 0) return device.max_ctas_per_sm;
  const int64_t warps_a_partition = device.registers_per_sm / partitions / warp_registers;
  return ceil_div(warps, partitions) > warps_a_partition ? 0 : warps_a_partition * partitions / warps;
}

// As it is given out: in units, with the system's own beside it.
int64_t smem_of_block(int64_t smem_bytes, const DeviceProfile& device) {
  const bool old = architecture_number(device.arch).value_or(80) < 80;
  return old ? round_up(smem_bytes, 256) : round_up(smem_of_blocks(1, smem_bytes), 128);
}

}  // namespace

int64_t smem_of_blocks(int64_t blocks, int64_t smem_bytes) {
  return blocks * (smem_bytes + system_smem_bytes);
}

int resident_ctas_per_sm(const BlockNeeds& needs, const DeviceProfile& device) {
  if (needs.threads < 1 || needs.smem_bytes > device.smem_per_block_bytes) return 0;
  const int64_t warps = ceil_div(needs.threads, warp_threads);
  int64_t ctas =
      std::min<int64_t>(device.max_ctas_per_sm, device.max_threads_per_sm / (warps * warp_threads));
  if (const int64_t smem = smem_of_block(needs.smem_bytes, device); smem > 0)
    ctas = std::min(ctas, device.smem_per_sm_bytes / smem);
  ctas = std::min(ctas, ctas_by_registers(needs.registers, warps, device));
  return static_cast<int>(ctas);
}

BlockNeeds block_needs(const Step& step, const DeviceProfile& device) {
  return std::visit(
      overloaded{[](const KernelLaunch& kernel) {
                   return BlockNeeds{kernel.threads, kernel.expected_registers, kernel.smem_bytes};
                 },
                 [&](const GemmLaunch&) {
                   return BlockNeeds{gemm_threads, 0, device.smem_per_block_bytes};
                 },
                 [](const MemsetLaunch&) {
                   return BlockNeeds{memset_threads, 0, 0};
                 },
                 [](const PluginLaunch&) {
                   return BlockNeeds{memset_threads, 0, 0};
                 }},  // not modelled
      step.launch);
}

}  // namespace attnprof
