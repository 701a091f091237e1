#include "schedule/product.hpp"

#include <algorithm>

namespace attnprof {
namespace {

// y += a x. The inner loop's constant length lets the compiler use vector instructions at -O2.
void add_scaled(float* __restrict y, const float* __restrict x, float a, int64_t n) {
  constexpr int64_t width = 16;
  int64_t i = 0;
  for (; i + width <= n; i += width)
    for (int64_t u = 0; u < width; ++u) y[i + u] += a * x[i + u];
  for (; i < n; ++i) y[i] += a * x[i];
}

}  // namespace

void add_product(const TileValues& a, const TileValues& b, TileValues& c) {
  const int64_t depth = std::min(a.cols, b.rows);
  for (int64_t i = 0; i < c.rows; ++i)
    for (int64_t k = 0; k < depth; ++k)
      add_scaled(c.values.data() + i * c.cols, b.values.data() + k * b.cols, a.at(i, k), c.cols);
}

TileValues transposed(const TileValues& tile) {
  TileValues turned{tile.cols, tile.rows, std::vector<float>(tile.values.size())};
  for (int64_t row = 0; row < tile.rows; ++row)
    for (int64_t col = 0; col < tile.cols; ++col) turned.at(col, row) = tile.at(row, col);
  return turned;
}

void add_product_transposed(const TileValues& a, const TileValues& b, TileValues& c) {
  add_product(a, transposed(b), c);
}

TileValues zero_tile(int64_t rows, int64_t cols) {
  return {rows, cols, std::vector<float>(static_cast<size_t>(rows * cols), 0.0f)};
}

}  // namespace attnprof
