#include "schedule/gemm_schedule.hpp"

#include <algorithm>
#include <utility>

#include "schedule/product.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

constexpr int64_t assumed_tile = 128;

// One rectangle of a product's matrix, whose rows may be those of several slices.
struct Rectangle {
  int64_t row, rows, col, cols;
};

// The matrix that product `number` takes of an operand.
class StackedMatrix {
 public:
  StackedMatrix(const Operand& operand, const GemmLaunch& gemm, int64_t number)
      : operand_(operand), first_slice_(number * (operand.slices() / gemm.count)) {}

  // Empty when the machine only counts.
  TileValues read(const Rectangle& part, TileMachine& machine) const {
    TileValues all;
    for_each_slice(part, [&](const Region& region) {
      const TileValues rows = machine.read(region);
      all.values.insert(all.values.end(), rows.values.begin(), rows.values.end());
    });
    if (machine.numeric()) all.rows = part.rows, all.cols = part.cols;
    return all;
  }

  void write(const Rectangle& part, const TileValues& all, TileMachine& machine) const {
    auto next = all.values.begin();
    for_each_slice(part, [&](const Region& region) {
      if (!machine.numeric()) return machine.write(region, {});
      const auto end = next + region.rows * region.cols;
      machine.write(region, {region.rows, region.cols, std::vector<float>(next, end)});
      next = end;
    });
  }

 private:
  template <typename F>
  void for_each_slice(const Rectangle& part, F f) const {
    for (int64_t row = part.row; row < part.row + part.rows;) {
      const int64_t in_slice = row % operand_.rows;
      const int64_t rows = std::min(operand_.rows - in_slice, part.row + part.rows - row);
      f(Region{operand_.id, first_slice_ + row / operand_.rows, in_slice, rows, part.col, part.cols});
      row += rows;
    }
  }

  const Operand& operand_;
  int64_t first_slice_;
};

Rectangle turned_if(bool transpose, const Rectangle& r) {
  return transpose ? Rectangle{r.col, r.cols, r.row, r.rows} : r;
}

// op(part of the matrix), where `part` counts rows and columns of op(matrix).
TileValues read_operand(const StackedMatrix& matrix, bool transpose, const Rectangle& part,
                        TileMachine& machine) {
  TileValues tile = matrix.read(turned_if(transpose, part), machine);
  return transpose && machine.numeric() ? transposed(tile) : tile;
}

void finish(const GemmLaunch& g, const TileValues& before, TileValues& sums) {
  for (size_t i = 0; i < sums.values.size(); ++i)
    sums.values[i] = g.alpha * sums.values[i] + (g.beta != 0 ? g.beta * before.values[i] : 0.0f);
}

int64_t tiles_of(int64_t length) { return ceil_div(length, assumed_tile); }

// One assumed tile of C.
void product_block(const GemmLaunch& g, const OperandList& ops, int64_t cta, TileMachine& machine) {
  const int64_t m_tiles = tiles_of(g.m), n_tiles = tiles_of(g.n);
  const int64_t number = cta / (m_tiles * n_tiles);
  const int64_t row = cta / n_tiles % m_tiles * assumed_tile, col = cta % n_tiles * assumed_tile;
  const int64_t rows = std::min(assumed_tile, g.m - row), cols = std::min(assumed_tile, g.n - col);
  const StackedMatrix a(ops[g.a], g, number), b(ops[g.b], g, number), c(ops[g.c], g, number);
  const Unit unit = ops[g.a].dtype == ElementType::fp32 ? Unit::fma : Unit::tensor;
  TileValues sums;
  if (machine.numeric()) sums = zero_tile(rows, cols);
  for (int64_t k = 0; k < g.k; k += assumed_tile) {
    const int64_t depth = std::min(assumed_tile, g.k - k);
    const TileValues left = read_operand(a, g.transpose_a, {row, rows, k, depth}, machine);
    const TileValues right = read_operand(b, g.transpose_b, {k, depth, col, cols}, machine);
    machine.execute(unit, 2 * round_up(rows, 16) * round_up(cols, 16) * round_up(depth, 16));
    if (machine.numeric()) add_product(left, right, sums);
  }
  TileValues before;
  if (g.beta != 0) before = c.read({row, rows, col, cols}, machine);
  finish(g, before, sums);
  c.write({row, rows, col, cols}, sums, machine);
}

}  // namespace

Schedule gemm_schedule(const GemmLaunch& gemm, const OperandList& operands) {
  return {.ctas = gemm.count * tiles_of(gemm.m) * tiles_of(gemm.n),
          .run = [gemm, operands](int64_t cta,
                                  TileMachine& machine) { product_block(gemm, operands, cta, machine); },
          .exact = false};
}

}  // namespace attnprof
