// FlashAttention-2's backward pass (Dao 2023, Algorithm 2) on the FMA pipes: a block a tile of keys, dQ by
// atomics.
#include "variants/naive_backward.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "lib/naive_backward.h"
#include "schedule/product.hpp"
#include "schedule/tiling.hpp"
#include "variants/unfused.hpp"

namespace attnprof {
namespace {

constexpr OperandId operand_delta = workspace_id(2), operand_d_q_sums = workspace_id(3);
constexpr int threads = naive_backward_threads;

int64_t query_rows(const Problem& p) { return saturating_product({p.batch, p.heads, p.q_len}); }

KernelLaunch launch_of(const char* entry, const Problem& p, const Tile& tile) {
  return {.file = "naive_backward.cu",
          .entry = entry,
          .macros = kernel_macros(p, tile.br, tile.bc),
          .grid = {ceil_div(query_rows(p), naive_rows_per_block), 1, 1},
          .threads = threads,
          .expected_registers = 40};
}

// Calls f(rows of one slice) for the rows that a block of a launch with a warp a row works on.
template <typename F>
void for_each_row_range(const Problem& p, int64_t cta, F f) {
  const int64_t end = std::min((cta + 1) * naive_rows_per_block, query_rows(p));
  for (int64_t row = cta * naive_rows_per_block; row < end;) {
    const int64_t in_slice = row % p.q_len, rows = std::min(p.q_len - in_slice, end - row);
    f(row / p.q_len, in_slice, rows);
    row += rows;
  }
}

Step row_step(const char* name, const char* entry, const Problem& p, const Tile& tile,
              std::function<void(int64_t slice, int64_t row, int64_t rows, TileMachine&)> work) {
  KernelLaunch kernel = launch_of(entry, p, tile);
  Schedule schedule{kernel.grid.count(), [p, work = std::move(work)](int64_t cta, TileMachine& machine) {
                      for_each_row_range(p, cta, [&](int64_t slice, int64_t row, int64_t rows) {
                        work(slice, row, rows, machine);
                      });
                    }};
  return {.name = name, .launch = std::move(kernel), .schedule = std::move(schedule)};
}

// LSE of rows of S.
Step lse_step(const Problem& p, const Tile& tile) {
  return row_step("lse", "naive_lse", p, tile, [p](int64_t slice, int64_t row, int64_t rows, TileMachine& m) {
    for (int64_t i = row; i < row + rows; ++i) {
      const KeyRanges seen = visible(p, slice / p.heads, i);
      TileValues lse = zero_tile(1, 1);
      lse.at(0, 0) = -std::numeric_limits<float>::infinity();
      if (seen.count > 0) {
        const TileValues s = m.read({operand_s, slice, i, 1, 0, last_end(seen)});
        if (m.numeric()) {
          double sum = 0;
          const float largest = *std::ranges::max_element(s.values);
          for (const float value : s.values) sum += std::exp(value - largest);
          lse.at(0, 0) = largest + static_cast<float>(std::log(sum));
        }
      }
      m.write({operand_lse, slice, i, 1, 0, 1}, lse);
    }
  });
}

Step delta_step(const Problem& p, const Tile& tile) {
  return row_step("delta", "naive_delta", p, tile,
                  [p](int64_t slice, int64_t row, int64_t rows, TileMachine& m) {
                    const TileValues o = m.read({operand_o, slice, row, rows, 0, p.head_dim});
                    const TileValues d_o = m.read({operand_d_o, slice, row, rows, 0, p.head_dim});
                    TileValues delta, zeros;
                    if (m.numeric()) {
                      delta = zero_tile(rows, 1), zeros = zero_tile(rows, p.head_dim);
                      for (int64_t i = 0; i < rows; ++i)
                        for (int64_t c = 0; c < p.head_dim; ++c) delta.at(i, 0) += o.at(i, c) * d_o.at(i, c);
                    }
                    m.write({operand_delta, slice, row, rows, 0, 1}, delta);
                    m.write({operand_d_q_sums, slice, row, rows, 0, p.head_dim}, zeros);
                  });
}

Step convert_step(const Problem& p, const Tile& tile) {
  return row_step("convert_dq", "naive_convert_d_q", p, tile,
                  [p](int64_t slice, int64_t row, int64_t rows, TileMachine& m) {
                    m.write({operand_d_q, slice, row, rows, 0, p.head_dim},
                            m.read({operand_d_q_sums, slice, row, rows, 0, p.head_dim}));
                  });
}

// One block: a K, V tile of a kv head against every tile of queries that see it.
struct Block {
  const Problem& p;
  const Tile& tile;
  const OperandList& ops;
  TileMachine& machine;
  int64_t kv, key;  // slice of K, first key
  TileValues k, v, d_k, d_v;

  void run() {
    const Region keys = row_tile(ops[operand_k], kv, key, tile.bc);
    k = machine.read(keys);
    v = machine.read(row_tile(ops[operand_v], kv, key, tile.bc));
    if (machine.numeric()) d_k = zero_tile(keys.rows, p.head_dim), d_v = d_k;
    const int64_t sequence = kv / p.kv_heads, first = sequence * p.heads + kv % p.kv_heads * p.group();
    const IndexRange rows = seeing(p, sequence, key, key + keys.rows);
    for (int64_t slice = first; slice < first + p.group(); ++slice)
      for (int64_t row = rows.first / tile.br * tile.br; row < rows.end; row += tile.br)
        inner_step(slice, row);
    machine.write(row_tile(ops[operand_d_k], kv, key, tile.bc), d_k);
    machine.write(row_tile(ops[operand_d_v], kv, key, tile.bc), d_v);
  }

  void inner_step(int64_t slice, int64_t row) {
    const Region d_q = row_tile(ops[operand_d_q_sums], slice, row, tile.br);
    const TileValues q = machine.read(row_tile(ops[operand_q], slice, row, tile.br));
    const TileValues d_o = machine.read(row_tile(ops[operand_d_o], slice, row, tile.br));
    const TileValues lse = machine.read(row_tile(ops[operand_lse], slice, row, tile.br));
    const TileValues delta = machine.read(row_tile(ops[operand_delta], slice, row, tile.br));
    const int64_t pairs = int64_t{tile.br} * tile.bc;
    machine.execute(Unit::fma, 10 * pairs * p.head_dim);
    machine.execute(Unit::exp, pairs);
    machine.execute(Unit::smem, 10 * pairs * p.head_dim * 4);  // a factor a product is shared by a warp
    machine.execute(Unit::direct, d_q.rows * p.head_dim * 4);
    machine.execute(Unit::round, 2);
    if (!machine.numeric()) return machine.add(d_q, {});
    TileValues s = zero_tile(q.rows, k.rows), d_p = s;
    add_product_transposed(q, k, s);
    add_product_transposed(d_o, v, d_p);
    const TileValues probabilities = softmax(slice, row, s, lse), d_s = gradient(probabilities, d_p, delta);
    add_product(transposed(probabilities), d_o, d_v);
    add_product(transposed(d_s), q, d_k);
    TileValues part = zero_tile(q.rows, p.head_dim);
    add_product(d_s, k, part);
    machine.add(d_q, part);
  }

  float scale() const { return 1.0f / std::sqrt(static_cast<float>(p.head_dim)); }

  // P of a tile, from S and LSE.
  TileValues softmax(int64_t slice, int64_t row, const TileValues& s, const TileValues& lse) const {
    TileValues result = zero_tile(s.rows, s.cols);
    for (int64_t i = 0; i < s.rows; ++i) {
      const KeyRanges seen = visible_in_tile(p, slice, row + i, key, s.cols);
      for (int r = 0; r < seen.count; ++r)
        for (int64_t j = seen.at[r].first; j < seen.at[r].end; ++j)
          result.at(i, j) = std::exp(s.at(i, j) * scale() - lse.at(i, 0));
    }
    return result;
  }

  TileValues gradient(const TileValues& probabilities, const TileValues& d_p, const TileValues& delta) const {
    TileValues d_s = zero_tile(d_p.rows, d_p.cols);
    for (int64_t i = 0; i < d_p.rows; ++i)
      for (int64_t j = 0; j < d_p.cols; ++j)
        d_s.at(i, j) = probabilities.at(i, j) * (d_p.at(i, j) - delta.at(i, 0)) * scale();
    return d_s;
  }
};

Step main_step(const Problem& p, const Tile& tile, const OperandList& ops) {
  const int64_t tiles = ceil_div(p.kv_len, tile.bc);
  KernelLaunch kernel = launch_of("naive_backward", p, tile);
  kernel.grid = {tiles, p.kv_heads, p.batch};
  kernel.smem_bytes = int64_t{naive_backward_floats(tile.br, tile.bc, static_cast<int>(p.head_dim))} * 4;
  kernel.expected_registers = 64;
  Schedule schedule{kernel.grid.count(), [p, tile, ops, tiles](int64_t cta, TileMachine& machine) {
                      Block{p, tile, ops, machine, cta / tiles, cta % tiles * tile.bc, {}, {}, {}, {}}.run();
                    }};
  schedule.reduces = true;
  return {.name = "backward",
          .launch = std::move(kernel),
          .schedule = std::move(schedule),
          .pace = {.unit = ProductUnit::fma, .round_cycles = 1350}};
}

}  // namespace

std::optional<std::string> naive_backward_unsupported(const Problem& p, const Tile& tile) {
  if (p.head_dim <= 0 || p.head_dim % 16 != 0 || p.head_dim > 256)
    return fmt::format("naive takes head_dim in multiples of 16 up to 256, not {}", p.head_dim);
  if (tile.br <= 0 || tile.bc <= 0 || tile.br > 256 || tile.bc > 256)
    return fmt::format("naive's backward pass takes tiles of up to 256 x 256, not {}x{}", tile.br, tile.bc);
  return row_too_long("naive", p);  // of S, which the forward pass before it writes
}

TileChoice naive_backward_tile(const Problem& p, const DeviceProfile& device) {
  const auto bytes = [&](const Tile& tile) {
    return int64_t{naive_backward_floats(tile.br, tile.bc, static_cast<int>(p.head_dim))} * 4;
  };
  Tile tile{32, 32};
  if (bytes(tile) > device.smem_per_block_bytes) tile.bc = 16;
  if (bytes(tile) > device.smem_per_block_bytes) tile.br = 16;
  return {tile, fmt::format(
                    "largest of 32x32, 32x16, 16x16 whose K, V, Q, dO and two gradients ({} bytes) fit in a "
                    "block's shared memory",
                    bytes(tile))};
}

std::vector<Operand> naive_backward_workspace(const Problem& p) {
  std::vector<Operand> all = score_workspace(p);
  const auto of_rows = [&](const char* name, int64_t cols) {
    all.push_back(
        {name, Role::workspace, Init::poison, ElementType::fp32, p.batch, p.heads, p.q_len, cols, cols});
  };
  of_rows("delta", 1);
  of_rows("dQ_fp32", p.head_dim);
  return all;
}

std::vector<Step> naive_backward_steps(const Problem& p, const Tile& tile, const OperandList& ops,
                                       std::vector<Step> forward) {
  std::vector<Step> steps = std::move(forward);
  steps.push_back(lse_step(p, tile));
  for (Step& step : steps) step.timed = false;
  steps.push_back(delta_step(p, tile));
  steps.push_back(main_step(p, tile, ops));
  steps.push_back(convert_step(p, tile));
  return steps;
}

}  // namespace attnprof
