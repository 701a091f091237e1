// What frameworks' eager attention runs: a library product for S, a fused scale-mask-softmax kernel, a
// library product for O. The query heads that share a kv head are stacked into one product.
#include <fmt/format.h>

#include "schedule/fp8.hpp"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"
#include "variants/unfused.hpp"

namespace attnprof {
namespace {

// The library chooses its tiles; these stand in for them in the model.
constexpr int64_t assumed_tile = 128;
constexpr int64_t most_head_dim = 1024;  // as far as the reference it is verified against goes

std::optional<std::string> unsupported(const Problem& p, const Tile& tile, const DeviceProfile&) {
  if (tile != Tile{})
    return "standard takes no tile: its matrix products are a library's, which chooses its own";
  if (auto reason = fp8_unsupported("standard", "fp32, fp16 and bf16", p)) return reason;
  if (p.head_dim <= 0 || p.head_dim % 16 != 0 || p.head_dim > most_head_dim)
    return fmt::format("standard takes head_dim in multiples of 16 up to {}, not {}", most_head_dim,
                       p.head_dim);
  return row_too_long("standard", p);
}

TileChoice default_tile(const Problem&, const DeviceProfile&) {
  return {Tile{}, "the library chooses the tiles of its products"};
}

std::vector<Operand> workspace(const Problem& p, const Tile&) { return score_workspace(p); }

// C = A op(B) for every kv head; A and C are the stacked rows of its query heads.
GemmLaunch stacked_product(const Problem& p, int a, int b, int c, int64_t n, int64_t k, bool transpose_b) {
  const int64_t m = p.group() * p.q_len, pitch = round_up(p.kv_len, 16);
  const int64_t lda = a == operand_p ? pitch : p.head_dim;
  const int64_t ldc = c == operand_s ? pitch : p.head_dim;
  return {.m = m,
          .n = n,
          .k = k,
          .count = p.batch * p.kv_heads,
          .transpose_b = transpose_b,
          .a = a,
          .b = b,
          .c = c,
          .lda = lda,
          .ldb = p.head_dim,
          .ldc = ldc,
          .stride_a = m * lda,
          .stride_b = p.kv_len * p.head_dim,
          .stride_c = m * ldc};
}

// One rectangle of a product's stacked rows and its columns.
struct StackedTile {
  int64_t product, row, rows, col, cols;
};

// Calls f(region of `operand`) for the part of each query head in the stacked rows.
template <typename F>
void for_each_head(const Problem& p, int operand, const StackedTile& tile, F f) {
  for (int64_t row = tile.row; row < tile.row + tile.rows;) {
    const int64_t in_head = row % p.q_len;
    const int64_t rows = std::min(p.q_len - in_head, tile.row + tile.rows - row);
    f(Region{operand, tile.product * p.group() + row / p.q_len, in_head, rows, tile.col, tile.cols});
    row += rows;
  }
}

// The tile's rows as one matrix; empty when the machine only counts.
TileValues read_stacked(const Problem& p, int operand, const StackedTile& tile, TileMachine& machine) {
  TileValues all;
  for_each_head(p, operand, tile, [&](const Region& region) {
    const TileValues part = machine.read(region);
    all.values.insert(all.values.end(), part.values.begin(), part.values.end());
  });
  if (machine.numeric()) all.rows = tile.rows, all.cols = tile.cols;
  return all;
}

void write_stacked(const Problem& p, int operand, const StackedTile& tile, const TileValues& all,
                   TileMachine& machine) {
  auto next = all.values.begin();
  for_each_head(p, operand, tile, [&](const Region& region) {
    if (!machine.numeric()) return machine.write(region, {});
    const auto end = next + region.rows * region.cols;
    machine.write(region, {region.rows, region.cols, std::vector<float>(next, end)});
    next = end;
  });
}

int64_t tiles_of(int64_t length) { return ceil_div(length, assumed_tile); }

// One assumed output tile: panels of A and B over the whole of k, C written once.
void product_block(const Problem& p, const GemmLaunch& g, int64_t cta, TileMachine& machine) {
  const int64_t m_tiles = tiles_of(g.m), n_tiles = tiles_of(g.n);
  const int64_t product = cta / (m_tiles * n_tiles);
  const int64_t row = cta / n_tiles % m_tiles * assumed_tile, col = cta % n_tiles * assumed_tile;
  const int64_t rows = std::min(assumed_tile, g.m - row), cols = std::min(assumed_tile, g.n - col);
  TileValues c;
  if (machine.numeric()) c = zero_tile(rows, cols);
  for (int64_t k = 0; k < g.k; k += assumed_tile) {
    const int64_t depth = std::min(assumed_tile, g.k - k);
    const TileValues a = read_stacked(p, g.a, {product, row, rows, k, depth}, machine);
    const TileValues b = machine.read(g.transpose_b ? Region{g.b, product, col, cols, k, depth}
                                                    : Region{g.b, product, k, depth, col, cols});
    machine.execute(p.dtype == Dtype::fp32 ? Unit::fma : Unit::tensor,
                    2 * round_up(rows, 16) * round_up(cols, 16) * round_up(depth, 16));
    if (machine.numeric()) g.transpose_b ? add_product_transposed(a, b, c) : add_product(a, b, c);
  }
  write_stacked(p, g.c, {product, row, rows, col, cols}, c, machine);
}

Step gemm_step(const char* name, const Problem& p, const GemmLaunch& gemm) {
  Schedule schedule{
      .ctas = gemm.count * tiles_of(gemm.m) * tiles_of(gemm.n),
      .run = [p, gemm](int64_t cta, TileMachine& machine) { product_block(p, gemm, cta, machine); },
      .exact = false};
  return {
      .name = name, .launch = gemm, .schedule = std::move(schedule), .pace = {.unit = ProductUnit::library}};
}

std::vector<Step> steps(const Problem& p, const Tile&, const DeviceProfile&) {
  // The kernel depends on neither head_dim nor a tile: it is compiled once for a dtype and mask.
  KernelLaunch softmax;
  softmax.file = "standard.cu";
  softmax.entry = "scale_mask_softmax";
  for (auto& macro : kernel_macros(p, 0, 0))
    if (macro.first == "DTYPE" || macro.first == "CAUSAL") softmax.macros.push_back(std::move(macro));
  const SoftmaxColumns whole_row{round_up(p.kv_len, 16), round_up(p.kv_len, 16)};
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  return {
      gemm_step("scores", p, stacked_product(p, operand_q, operand_k, operand_s, p.kv_len, p.head_dim, true)),
      softmax_step(p, std::move(softmax), scale, [whole_row](int64_t) { return whole_row; }),
      gemm_step("output", p,
                stacked_product(p, operand_p, operand_v, operand_o, p.head_dim, p.kv_len, false))};
}

}  // namespace

extern const Variant standard_variant;
const Variant standard_variant{
    .name = "standard",
    .idea = "two library matrix products around a fused scale-mask-softmax kernel, as frameworks run it",
    .needs = "fp32, fp16, bf16; head_dim multiple of 16 up to 1024; no tile",
    .unsupported = unsupported,
    .default_tile = default_tile,
    .workspace = workspace,
    .steps = steps,
};

}  // namespace attnprof
