// FlashAttention-2 forward (Dao 2023, Algorithm 1): Q tile outside, K and V tiles inside, O on chip.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "problem/kv_view.hpp"
#include "schedule/mma_tile.hpp"
#include "schedule/occupancy.hpp"
#include "schedule/online_softmax.hpp"
#include "schedule/tiling.hpp"
#include "schedule/variant.hpp"

namespace attnprof {
namespace {

constexpr int most_blocks = 8;  // on an SM

constexpr std::array knobs = {
    Knob{"stages", "K, V tiles in shared memory", 1, 4},
    Knob{"warp_rows", "query rows of a warp; with 32, each K, V fragment serves two products", 16, 32, 16},
    Knob{"q_in_registers", "1: Q's fragments stay in registers; 0: they are loaded again for every K tile", 0,
         1},
    Knob{"min_blocks", "blocks an SM that registers must leave room for", 1, most_blocks},
};

// How the kernel is built for a tile (macros of kernels/flash2.cu).
struct Shape {
  int warp_rows = 16;
  int threads = 0;
  bool q_in_registers = false;
  int min_blocks = 1;
  int stages = 1;
  int64_t smem_bytes = 0;
};

// Tiles, and a sequence's block table.
int64_t smem_bytes(const Problem& p, const Tile& tile, int stages) {
  return (tile.br + 2 * int64_t{stages} * tile.bc) * p.head_dim * bytes_per_element(p.dtype) +
         KvView(p).pages() * bytes_per_element(ElementType::int32);
}

int64_t smem_of_sm(const Problem& p, const Tile& tile, int stages, int blocks) {
  return smem_of_blocks(blocks, smem_bytes(p, tile, stages));
}

// 32 rows a warp halve the shared memory traffic of K and V, where the accumulators fit and four warps are
// left.
int warp_rows(const Problem& p, const Tile& tile) {
  if (const auto asked = tile.knobs.get("warp_rows")) return *asked;
  if (tile.br < 128 || tile.br % 32 != 0) return 16;
  return mma_registers(p.head_dim, tile.bc, 32) <= available_registers(tile.br, 1) ? 32 : 16;
}

int q_registers(const Problem& p, const Tile& tile) {
  return warp_rows(p, tile) / mma_rows * static_cast<int>(p.head_dim) / 4;
}

// Q's fragments stay in registers where they take 16 a thread or fewer.
bool q_in_registers(const Problem& p, const Tile& tile) {
  if (const auto asked = tile.knobs.get("q_in_registers")) return *asked != 0;
  return q_registers(p, tile) <= 16;
}

// mma_registers has room for 16 of Q's fragments, beyond that they come on top.
int registers(const Problem& p, const Tile& tile) {
  const int q = q_in_registers(p, tile) ? std::max(0, q_registers(p, tile) - 16) : 0;
  return mma_registers(p.head_dim, tile.bc, warp_rows(p, tile)) + q;
}

// As many blocks an SM as registers and shared memory hold; then a second stage if it costs no block.
Shape shape_of(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  Shape shape{.warp_rows = warp_rows(p, tile), .q_in_registers = q_in_registers(p, tile)};
  shape.threads = tile.br / shape.warp_rows * 32;
  const int needed = registers(p, tile);
  const auto stages = tile.knobs.get("stages"), blocks = tile.knobs.get("min_blocks");
  const auto fits = [&](int on_sm, int tiles) {
    return available_registers(shape.threads, on_sm) >= needed &&
           smem_of_sm(p, tile, tiles, on_sm) <= device.smem_per_sm_bytes;
  };
  while (shape.min_blocks < most_blocks && fits(shape.min_blocks + 1, stages.value_or(1))) ++shape.min_blocks;
  shape.min_blocks = blocks.value_or(shape.min_blocks);
  const bool second = smem_of_sm(p, tile, 2, shape.min_blocks) <= device.smem_per_sm_bytes;
  shape.stages = stages.value_or(second ? 2 : 1);
  shape.smem_bytes = smem_bytes(p, tile, shape.stages);
  return shape;
}

// Of what was asked for: accumulators alone must fit, the rest is the compiler's to squeeze.
std::optional<std::string> blocks_do_not_fit(const Problem& p, const Tile& tile, int blocks,
                                             const DeviceProfile& device) {
  const int rows = warp_rows(p, tile), threads = tile.br / rows * 32;
  const int stages = tile.knobs.get("stages").value_or(1);
  const int accumulators = mma_accumulators(p.head_dim, tile.bc, rows);
  if (int64_t{blocks} * threads > device.max_threads_per_sm)
    return fmt::format("min_blocks = {} of {} threads need {} on an SM, {} has {}", blocks, threads,
                       int64_t{blocks} * threads, device.name, device.max_threads_per_sm);
  if (const int available = available_registers(threads, blocks); accumulators >= available)
    return fmt::format("min_blocks = {} of {} threads leaves {} registers a thread, S and O alone take {}",
                       blocks, threads, available, accumulators);
  return blocks_lack_smem(blocks, smem_bytes(p, tile, stages), device);
}

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  const int rows = warp_rows(p, tile);
  if (tile.br % rows != 0)
    return fmt::format("flash2 takes Br in multiples of warp_rows = {}, not {}", rows, tile.br);
  if (auto reason = mma_unsupported("flash2", p, tile, rows)) return reason;
  if (const auto blocks = tile.knobs.get("min_blocks")) return blocks_do_not_fit(p, tile, *blocks, device);
  return std::nullopt;
}

Knobs knobs_used(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  const Shape shape = shape_of(p, tile, device);
  return {{"stages", shape.stages},
          {"warp_rows", shape.warp_rows},
          {"q_in_registers", shape.q_in_registers ? 1 : 0},
          {"min_blocks", shape.min_blocks}};
}

// The fastest measured on an H200 by `tune` (results/h200/pages/notes-forward.md), by head_dim: large tiles
// while a warp can hold 32 rows, which halves its reads of K and V; for the widest heads two smaller blocks
// an SM, one multiplying while the other is at its softmax.
struct Tuned {
  int64_t head_dim;  // up to here
  Tile tile;
};
constexpr std::array tuned = {Tuned{64, {128, 128}}, Tuned{128, {128, 64}}, Tuned{192, {128, 128}},
                              Tuned{256, {64, 80}}};
// For devices with less shared memory, and what registers do not hold.
constexpr std::array smaller = {Tile{128, 64}, Tile{64, 64}, Tile{64, 32}, Tile{32, 16}};

TileChoice default_tile(const Problem& p, const DeviceProfile& device) {
  const auto fits = [&](const Tile& tile) {
    return smem_bytes(p, tile, 1) <= device.smem_per_block_bytes && !unsupported(p, tile, device);
  };
  const auto best = std::ranges::find_if(tuned, [&](const Tuned& t) { return p.head_dim <= t.head_dim; });
  if (best != tuned.end() && fits(best->tile))
    return {best->tile, fmt::format("fastest measured on an H200 at head_dim {}", best->head_dim)};
  for (const Tile& tile : smaller)
    if (fits(tile))
      return {tile,
              fmt::format("largest of 128x64, 64x64, 64x32 whose Q, K and V ({} bytes) fit in a block's "
                          "shared memory, and S and O in registers",
                          smem_bytes(p, tile, 1))};
  return {smaller.back(), "smallest of the tiles tried"};
}

std::vector<Tile> candidates(const Problem&, const DeviceProfile&) {
  std::vector<Tile> tiles;
  for (int br : {64, 128, 256})
    for (int bc : {32, 64, 80, 96, 128})
      for (int rows : {16, 32})
        for (int stages : {1, 2}) tiles.push_back({br, bc, {{"stages", stages}, {"warp_rows", rows}}});
  return tiles;
}

std::vector<Operand> workspace(const Problem&, const Tile&) { return {}; }

// Shared memory's bytes for one K, V tile: every warp reads all of both, and Q where it does not keep it.
int64_t smem_traffic(const Problem& p, const Tile& tile, const Shape& shape) {
  const int64_t row = p.head_dim * bytes_per_element(p.dtype), kv = 2 * tile.bc * row;
  return (shape.threads / 32 + 1) * kv + (shape.q_in_registers ? 0 : tile.br * row);
}

// One block: a Q tile against every visible K, V tile. Causal: the last Q tiles, which see most keys, first.
void run_block(const Problem& p, const Tile& tile, const OperandList& ops, int64_t tile_smem, int64_t cta,
               TileMachine& machine) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / q_tiles;
  const int64_t order = cta % q_tiles;
  const int64_t row = (p.mask == Mask::causal ? q_tiles - 1 - order : order) * tile.br;
  const KeyTiles tiles = key_tiles(p, slice, row, tile.br, tile.bc);
  if (p.page_size > 0 && tiles.count() > 0) {  // the block's part of the table, into shared memory
    const int64_t keys = std::min((tiles.last() + 1) * tile.bc, p.kv_len);
    machine.read({operand_block_table, slice / p.heads, 0, 1, 0, ceil_div(keys, p.page_size)});
  }
  const Region o_region = row_tile(ops[operand_o], slice, row, tile.br);
  TileValues q;
  if (tiles.count() > 0) q = machine.read(row_tile(ops[operand_q], slice, row, tile.br));
  OnlineSoftmax state(machine.numeric() ? o_region.rows : 0, p.head_dim);
  tiles.for_each([&](int64_t j) {
    const int64_t key = j * tile.bc;
    const TileValues k = read_keys(p, ops[operand_k], slice, key, tile.bc, machine);
    const TileValues v = read_keys(p, ops[operand_v], slice, key, tile.bc, machine);
    machine.execute(Unit::tensor, 4 * int64_t{tile.br} * tile.bc * p.head_dim);
    machine.execute(Unit::exp, int64_t{tile.br} * tile.bc);
    machine.execute(Unit::smem, tile_smem);
    if (machine.numeric()) state.add_tile(p, q, {slice, row}, k, v, key);
  });
  machine.execute(Unit::round, tiles.count() + 2);  // and for the first tiles, and to write O
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
                      .expected_registers = available_registers(shape.threads, shape.min_blocks)};
  kernel.macros.emplace_back("WARP_ROWS", std::to_string(shape.warp_rows));
  kernel.macros.emplace_back("STAGES", std::to_string(shape.stages));
  kernel.macros.emplace_back("Q_IN_REGISTERS", shape.q_in_registers ? "1" : "0");
  kernel.macros.emplace_back("MIN_BLOCKS", std::to_string(shape.min_blocks));
  Schedule schedule{q_tiles * p.heads * p.batch,
                    [p, tile, ops = operands(p), smem = smem_traffic(p, tile, shape)](
                        int64_t cta, TileMachine& machine) { run_block(p, tile, ops, smem, cta, machine); }};
  return {Step{.name = "attention",
               .launch = std::move(kernel),
               .schedule = std::move(schedule),
               .pace = {.unit = ProductUnit::mma, .round_cycles = 690}}};
}

}  // namespace

extern const Variant flash2_variant;
const Variant flash2_variant{
    .name = "flash2",
    .idea = "Q tile outside, O kept on chip and written once; parallel over Q tiles; tensor cores",
    .needs =
        "fp16, bf16; head_dim multiple of 16 up to 256; Br, Bc multiples of 16; K, V in pages whose table fits in shared memory",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
    .knobs = knobs,
    .knobs_used = knobs_used,
    .candidates = candidates,
    .later_fields = {"page_size"},
};

}  // namespace attnprof
