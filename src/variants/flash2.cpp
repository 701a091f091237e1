// FlashAttention-2 forward (Dao 2023, Algorithm 1): Q tile outside, K and V tiles inside, O on chip.
#include <fmt/format.h>

#include "variants/online_softmax.hpp"
#include "variants/tiling.hpp"
#include "variants/variant.hpp"

namespace attnprof {
namespace {

constexpr int warp_rows = 16;  // query rows a warp owns: the M of mma.sync.m16n8k16

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  if (p.dtype == Dtype::fp32) return "flash2 takes fp16 and bf16: its products run on tensor cores";
  if (p.head_dim % 16 != 0 || p.head_dim > 256)
    return fmt::format("flash2 takes head_dim in multiples of 16 up to 256, not {}", p.head_dim);
  if (tile.br / warp_rows > 32)
    return fmt::format(
        "flash2 uses one warp for 16 rows of Q: Br = {} needs {} warps, a block has at most 32", tile.br,
        tile.br / warp_rows);
  return std::nullopt;
}

TileChoice default_tile(const Problem& p, const DeviceProfile&) {
  if (p.head_dim <= 64)
    return {{128, 64}, "8 warps share each K, V tile; O and S fit in registers at d <= 64"};
  return {{64, 64}, "O alone takes d/2 registers a thread: 4 warps and small tiles keep two blocks an SM"};
}

std::vector<Operand> workspace(const Problem&, const Tile&) { return {}; }

// One block: a Q tile against every visible K, V tile.
void run_block(const Problem& p, const Tile& tile, const std::vector<Operand>& ops, int64_t cta,
               TileMachine& machine) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / q_tiles;
  const int64_t row = cta % q_tiles * tile.br;
  const Region o_region = row_tile(operand_o, ops[operand_o], slice, row, tile.br);
  const TileValues q = machine.read(row_tile(operand_q, ops[operand_q], slice, row, tile.br));
  OnlineSoftmax state(machine.numeric() ? o_region.rows : 0, p.head_dim);
  const int64_t tiles = visible_tiles(p, row, tile.br, tile.bc);
  for (int64_t j = 0; j < tiles; ++j) {
    const int64_t key = j * tile.bc;
    const TileValues k = machine.read(row_tile(operand_k, ops[operand_k], kv_slice(p, slice), key, tile.bc));
    const TileValues v = machine.read(row_tile(operand_v, ops[operand_v], kv_slice(p, slice), key, tile.bc));
    machine.execute(Unit::tensor, 4 * int64_t{tile.br} * tile.bc * p.head_dim);
    machine.execute(Unit::exp, int64_t{tile.br} * tile.bc);
    if (machine.numeric()) state.add_tile(p, q, row, k, v, key);
  }
  machine.write(o_region, state.normalised());
}

std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile&) {
  const int64_t ctas = ceil_div(p.q_len, tile.br) * p.heads * p.batch;
  KernelLaunch kernel{.file = "flash2.cu",
                      .entry = "flash2",
                      .macros = kernel_macros(p, tile.br, tile.bc),
                      .grid = {ceil_div(p.q_len, tile.br), p.heads, p.batch},
                      .threads = tile.br / warp_rows * 32,
                      .smem_bytes = (tile.br + 2 * tile.bc) * p.head_dim * bytes_per_element(p.dtype),
                      .expected_registers = p.head_dim <= 64 ? 128 : 255};
  Schedule schedule{ctas, [p, tile, ops = operands(p)](int64_t cta, TileMachine& machine) {
                      run_block(p, tile, ops, cta, machine);
                    }};
  return {Step{"attention", std::move(kernel), std::move(schedule)}};
}

}  // namespace

extern const Variant flash2_variant;
const Variant flash2_variant{
    .name = "flash2",
    .idea = "Q tile outside, O kept on chip and written once; parallel over Q tiles; tensor cores",
    .needs = "fp16, bf16; head_dim multiple of 16 up to 256; Br, Bc multiples of 16",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
};

}  // namespace attnprof
