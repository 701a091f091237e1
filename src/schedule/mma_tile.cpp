#include "schedule/mma_tile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "schedule/occupancy.hpp"

#include "schedule/fp8.hpp"

namespace attnprof {

int mma_accumulators(int64_t head_dim, int bc, int warp_rows) {
  // 16 x n over 32 lanes: n / 2 registers.
  return warp_rows / mma_rows * (static_cast<int>(head_dim) + bc) / 2;
}

int mma_registers(int64_t head_dim, int bc, int warp_rows) {
  return mma_accumulators(head_dim, bc, warp_rows) + 46 + 6 * (warp_rows / mma_rows);
}

int available_registers(int threads, int blocks) {
  constexpr int registers_per_sm = 65536, partitions = 4;
  // Warps are spread over the SM's four partitions, which each have a quarter of the registers: a block of 9
  // takes the room of 12, five blocks of 2 that of 12 too.
  const auto spread = [](int warps) {
    return warps < partitions ? warps : (warps + partitions - 1) / partitions * partitions;
  };
  const int room = spread(spread((threads + 31) / 32) * blocks);
  return std::min(mma_max_registers, registers_per_sm / (room * 32) / 8 * 8);
}

std::optional<std::string> blocks_lack_smem(int min_blocks, int64_t smem_bytes, const DeviceProfile& device) {
  const int64_t needed = smem_of_blocks(min_blocks, smem_bytes);
  if (needed <= device.smem_per_sm_bytes) return std::nullopt;
  return fmt::format("min_blocks = {} needs {} bytes of shared memory an SM, {} has {}", min_blocks, needed,
                     device.name, device.smem_per_sm_bytes);
}

std::optional<std::string> mma_unsupported(std::string_view variant, const Problem& p, const Tile& tile,
                                           int warp_rows) {
  if (p.dtype == Dtype::fp32)
    return fmt::format("{} takes fp16 and bf16: its products run on tensor cores", variant);
  if (auto reason = fp8_unsupported(variant, "fp16 and bf16", p)) return reason;
  if (p.head_dim % 16 != 0 || p.head_dim > 256)
    return fmt::format("{} takes head_dim in multiples of 16 up to 256, not {}", variant, p.head_dim);
  if (tile.br < 16 || tile.br % 16 != 0 || tile.bc < 16 || tile.bc % 16 != 0)
    return fmt::format("{} takes Br and Bc in multiples of 16, not {}x{}", variant, tile.br, tile.bc);
  const int warps = tile.br / warp_rows;
  if (warps > 32)
    return fmt::format("{} uses one warp for {} rows of Q: Br = {} needs {} warps, a block has at most 32",
                       variant, warp_rows, tile.br, warps);
  const int needed = mma_registers(p.head_dim, tile.bc, warp_rows);
  const int available = available_registers(warps * 32, 1);
  if (needed > available)
    return fmt::format(
        "{} keeps S and O in registers: Bc = {} at head_dim "
        "{} takes about {} a thread, and {} warps leave {}",
        variant, tile.bc, p.head_dim, needed, warps, available);
  return std::nullopt;
}

}  // namespace attnprof
