// FlashAttention-2 forward (Dao 2023, Algorithm 1): Q tile outside, K and V tiles inside, O on chip.
#include <fmt/format.h>

#include <array>

#include "variants/mma_tile.hpp"
#include "variants/online_softmax.hpp"
#include "variants/tiling.hpp"
#include "variants/variant.hpp"

namespace attnprof {
namespace {

constexpr int64_t reserved_smem_bytes = 1024;  // of every block, by CUDA

// How the kernel is built for a tile (macros of kernels/flash2.cu).
struct Shape {
  int warp_rows = 16;
  int threads = 0;
  int blocks_per_sm = 1;
  int stages = 1;
  int64_t smem_bytes = 0;
};

int64_t smem_bytes(const Problem& p, const Tile& tile, int stages) {
  return (tile.br + 2 * int64_t{stages} * tile.bc) * p.head_dim * bytes_per_element(p.dtype);
}

// 32 rows a warp halve the shared memory traffic of K and V, where the accumulators fit and four warps are
// left.
int warp_rows(const Problem& p, const Tile& tile) {
  if (tile.br < 128 || tile.br % 32 != 0) return 16;
  return mma_registers(p.head_dim, tile.bc, 32) <= available_registers(tile.br, 1) ? 32 : 16;
}

// As many blocks an SM as registers and shared memory hold; then a second stage if it costs no block.
Shape shape_of(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  Shape shape{.warp_rows = warp_rows(p, tile)};
  shape.threads = tile.br / shape.warp_rows * 32;
  const int registers = mma_registers(p.head_dim, tile.bc, shape.warp_rows);
  const auto fits = [&](int blocks, int stages) {
    return available_registers(shape.threads, blocks) >= registers &&
           blocks * (smem_bytes(p, tile, stages) + reserved_smem_bytes) <= device.smem_per_sm_bytes;
  };
  while (shape.blocks_per_sm < 8 && fits(shape.blocks_per_sm + 1, 1)) ++shape.blocks_per_sm;
  if (fits(shape.blocks_per_sm, 2)) shape.stages = 2;
  shape.smem_bytes = smem_bytes(p, tile, shape.stages);
  return shape;
}

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  return mma_unsupported("flash2", p, tile, warp_rows(p, tile));
}

TileChoice default_tile(const Problem& p, const DeviceProfile& device) {
  constexpr std::array tiles = {Tile{128, 64}, Tile{64, 64}, Tile{64, 32}, Tile{32, 16}};
  for (const Tile& tile : tiles)
    if (smem_bytes(p, tile, 1) <= device.smem_per_block_bytes && !unsupported(p, tile, device))
      return {tile,
              fmt::format("largest of 128x64, 64x64, 64x32 whose Q, K and V ({} bytes) fit in a block's "
                          "shared memory, and S and O in registers",
                          smem_bytes(p, tile, 1))};
  return {tiles.back(), "smallest of the tiles tried"};
}

std::vector<Operand> workspace(const Problem&, const Tile&) { return {}; }

// One block: a Q tile against every visible K, V tile. Causal: the last Q tiles, which see most keys, first.
void run_block(const Problem& p, const Tile& tile, const std::vector<Operand>& ops, int64_t cta,
               TileMachine& machine) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / q_tiles;
  const int64_t order = cta % q_tiles;
  const int64_t row = (p.mask == Mask::causal ? q_tiles - 1 - order : order) * tile.br;
  const int64_t tiles = visible_tiles(p, row, tile.br, tile.bc);
  const Region o_region = row_tile(operand_o, ops[operand_o], slice, row, tile.br);
  TileValues q;
  if (tiles > 0) q = machine.read(row_tile(operand_q, ops[operand_q], slice, row, tile.br));
  OnlineSoftmax state(machine.numeric() ? o_region.rows : 0, p.head_dim);
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

std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const Shape shape = shape_of(p, tile, device);
  KernelLaunch kernel{.file = "flash2.cu",
                      .entry = "flash2",
                      .macros = kernel_macros(p, tile.br, tile.bc),
                      .grid = {q_tiles, p.heads, p.batch},
                      .threads = shape.threads,
                      .smem_bytes = shape.smem_bytes,
                      .expected_registers = available_registers(shape.threads, shape.blocks_per_sm)};
  kernel.macros.emplace_back("WARP_ROWS", std::to_string(shape.warp_rows));
  kernel.macros.emplace_back("STAGES", std::to_string(shape.stages));
  kernel.macros.emplace_back("MIN_BLOCKS", std::to_string(shape.blocks_per_sm));
  Schedule schedule{q_tiles * p.heads * p.batch,
                    [p, tile, ops = operands(p)](int64_t cta, TileMachine& machine) {
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
