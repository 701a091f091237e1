// Standard attention as the textbook writes it (FlashAttention's Algorithm 0): S = QK^T, P = softmax(S),
// O = PV, each a tiled launch on the FMA pipes, with S and P in device memory.
#include <fmt/format.h>

#include "lib/fma_blocking.h"
#include "schedule/fp8.hpp"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"
#include "variants/naive_backward.hpp"
#include "variants/unfused.hpp"

namespace attnprof {

extern const Variant naive_variant;

namespace {

constexpr const char* file = "naive.cu";

int element_bytes(const Problem& p) { return static_cast<int>(bytes_per_element(p.dtype)); }

// `m` and `n` may be as large as an option takes: their product is asked for in 64 bits first.
std::optional<std::string> too_many_threads(const char* product, int64_t m, int64_t n) {
  const int64_t threads = ceil_div(m * n, 64);
  if (threads <= fma_max_threads) return std::nullopt;
  return fmt::format("naive's {} of {} x {} needs {} threads of 64 sums each; registers allow {}", product, m,
                     n, threads, fma_max_threads);
}

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  if (auto reason = fp8_unsupported("naive", "fp32, fp16 and bf16", p)) return reason;
  if (p.pass == Pass::backward) return naive_backward_unsupported(p, tile);
  if (p.head_dim <= 0 || p.head_dim % 16 != 0 || p.head_dim > 256)
    return fmt::format("naive takes head_dim in multiples of 16 up to 256, not {}", p.head_dim);
  if (tile.br <= 0 || tile.bc <= 0 || tile.br % 16 != 0 || tile.bc % 16 != 0)
    return fmt::format("naive takes tiles whose sides are multiples of 16, not {}x{}", tile.br, tile.bc);
  if (auto reason = too_many_threads("tile of S", tile.br, tile.bc)) return reason;
  if (auto reason = too_many_threads("tile of O", tile.br, p.head_dim)) return reason;
  return row_too_long("naive", p);
}

TileChoice default_tile(const Problem& p, const DeviceProfile& device) {
  if (p.pass == Pass::backward) return naive_backward_tile(p, device);
  if (p.head_dim > 128)
    return {{64, 64}, "64 rows of O at head_dim above 128 fill 256 threads; more would spill registers"};
  if (ceil_div(p.q_len, 128) * p.heads * p.batch < device.sms)
    return {{64, 64}, "128 rows a block would leave SMs without a block of O"};
  return {{128, 128}, "256 threads of 8 x 8 sums: each element from shared memory feeds 8 multiply-adds"};
}

std::vector<Operand> workspace(const Problem& p, const Tile&) {
  return p.pass == Pass::backward ? naive_backward_workspace(p) : score_workspace(p);
}

// Columns of S or P from `col` on, at most one tile, up to the padded row.
Region score_tile(const Operand& scores, int64_t slice, int64_t row, int64_t col, const Tile& tile) {
  Region region = row_tile(scores, slice, row, tile.br);
  region.col = col;
  region.cols = std::min<int64_t>(tile.bc, scores.cols - col);
  return region;
}

// What the product of an m x n tile over `depth` does in shared memory: every thread reads its rows and
// columns of both factors, which are written once; a round for each slice of them.
void execute_product(const Problem& p, int64_t m, int64_t n, int64_t depth, TileMachine& machine) {
  const int rows = static_cast<int>(m), cols = static_cast<int>(n);
  const int64_t read = int64_t{fma_owners(rows, cols)} * 2 * fma_square(rows, cols);
  machine.execute(Unit::fma, 2 * m * n * depth);
  machine.execute(Unit::smem, (read + m + n) * depth * 4);
  machine.execute(Unit::round, ceil_div(depth, fma_depth(element_bytes(p))));
}

// One tile of S. Causal: a tile no query of it sees is left out.
void scores_block(const Problem& p, const Tile& tile, const OperandList& ops, int64_t cta,
                  TileMachine& machine) {
  const int64_t kv_tiles = ceil_div(p.kv_len, tile.bc), q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / (kv_tiles * q_tiles);
  const int64_t row = cta / kv_tiles % q_tiles * tile.br, j = cta % kv_tiles;
  if (!key_tiles(p, slice, row, tile.br, tile.bc).has(j)) return;
  const int64_t keys = std::min<int64_t>(tile.bc, p.kv_len - j * tile.bc);
  const TileValues q = machine.read(row_tile(ops[operand_q], slice, row, tile.br));
  const TileValues k = read_keys(p, ops[operand_k], slice, j * tile.bc, keys, machine);
  execute_product(p, tile.br, tile.bc, p.head_dim, machine);
  const Region s_region = score_tile(ops[operand_s], slice, row, j * tile.bc, tile);
  if (!machine.numeric()) return machine.write(s_region, {});
  TileValues visible = zero_tile(s_region.rows, keys);
  add_product_transposed(q, k, visible);
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  TileValues s = zero_tile(s_region.rows, s_region.cols);  // zeros in the padding of a row
  for (int64_t i = 0; i < visible.rows; ++i)
    for (int64_t c = 0; c < visible.cols; ++c) s.at(i, c) = scale * visible.at(i, c);
  machine.write(s_region, s);
}

// Br rows of O, over the tiles of P that hold anything.
void output_block(const Problem& p, const Tile& tile, const OperandList& ops, int64_t cta,
                  TileMachine& machine) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br);
  const int64_t slice = cta / q_tiles, row = cta % q_tiles * tile.br;
  const Region o_region = row_tile(ops[operand_o], slice, row, tile.br);
  TileValues o;
  if (machine.numeric()) o = zero_tile(o_region.rows, p.head_dim);
  key_tiles(p, slice, row, tile.br, tile.bc).for_each([&](int64_t j) {
    const Region p_region = score_tile(ops[operand_p], slice, row, j * tile.bc, tile);
    const TileValues probabilities = machine.read(p_region);
    const TileValues v = read_keys(p, ops[operand_v], slice, j * tile.bc, tile.bc, machine);
    execute_product(p, tile.br, p.head_dim, p_region.cols, machine);
    if (machine.numeric()) add_product(probabilities, v, o);
  });
  machine.write(o_region, o);
}

// A launch of one FMA product a block, m x n outputs each.
Step product_step(const char* name, const Problem& p, const Tile& tile, Dim3 grid, int m, int n,
                  void (*block)(const Problem&, const Tile&, const OperandList&, int64_t, TileMachine&)) {
  KernelLaunch kernel{.file = file,
                      .entry = std::string("naive_") + name,
                      .macros = kernel_macros(p, tile.br, tile.bc),
                      .grid = grid,
                      .threads = fma_threads(m, n),
                      .smem_bytes = fma_smem_bytes(m, n, element_bytes(p)),
                      .expected_registers = fma_square(m, n) == 8 ? 128 : 64};
  OperandList ops = case_operands(naive_variant, p, tile);
  Schedule schedule{grid.count(), [=, ops = std::move(ops)](int64_t cta, TileMachine& machine) {
                      block(p, tile, ops, cta, machine);
                    }};
  return {.name = name,
          .launch = std::move(kernel),
          .schedule = std::move(schedule),
          .pace = {.unit = ProductUnit::fma, .round_cycles = 1350}};
}

// S is read by sectors up to the last visible key; P is written as far as output_block reads it.
SoftmaxColumns softmax_columns(const Problem& p, const Tile& tile, int64_t row) {
  const KeyTiles tiles = key_tiles(p, 0, row / tile.br * tile.br, tile.br, tile.bc);
  const int64_t read_by_output = tiles.count() > 0 ? (tiles.last() + 1) * tile.bc : 0;
  return {round_up(last_end(visible(p, 0, row)), 16), std::min(read_by_output, round_up(p.kv_len, 16))};
}

std::vector<Step> forward_steps(const Problem& p, const Tile& tile) {
  const int64_t q_tiles = ceil_div(p.q_len, tile.br), kv_tiles = ceil_div(p.kv_len, tile.bc);
  KernelLaunch softmax;
  softmax.file = file;
  softmax.entry = "naive_softmax";
  softmax.macros = kernel_macros(p, tile.br, tile.bc);
  return {
      product_step("scores", p, tile, {q_tiles * kv_tiles, p.heads, p.batch}, tile.br, tile.bc, scores_block),
      softmax_step(p, std::move(softmax), 1.0f,
                   [p, tile](int64_t row) { return softmax_columns(p, tile, row); }),
      product_step("output", p, tile, {q_tiles, p.heads, p.batch}, tile.br, static_cast<int>(p.head_dim),
                   output_block)};
}

// A backward pass's forward steps have the tile that a forward pass has.
std::vector<Step> steps(const Problem& p, const Tile& tile, const DeviceProfile& device) {
  if (p.pass == Pass::forward) return forward_steps(p, tile);
  Problem forward = p;
  forward.pass = Pass::forward;
  return naive_backward_steps(p, tile, case_operands(naive_variant, p, tile),
                              forward_steps(p, default_tile(forward, device).tile));
}

}  // namespace

const Variant naive_variant{
    .name = "naive",
    .idea = "three tiled launches on the FMA pipes; S and P cross device memory between them",
    .needs =
        "fp32, fp16, bf16; head_dim multiple of 16 up to 256; Br, Bc multiples of 16; the backward pass too",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
    .passes = {Pass::forward, Pass::backward},
};

}  // namespace attnprof
