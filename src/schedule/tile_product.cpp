#include "schedule/tile_product.hpp"

#include <algorithm>
#include <cstring>

namespace attnprof {
namespace {

// Four floats that GCC and Clang keep in one SIMD register on any target, at any optimisation level.
using Floats = float __attribute__((vector_size(16)));
constexpr int64_t lanes = 4;
constexpr int64_t block_cols = 2 * lanes;

Floats load(const float* from) {
  Floats value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }

// rows x 8 elements of C, held in registers over all of k.
template <int rows>
void multiply_block(int64_t k, ConstMatrix a, ConstMatrix b, Matrix c) {
  Floats left[rows], right[rows];
  for (int r = 0; r < rows; ++r) {
    left[r] = load(c.data + r * c.pitch);
    right[r] = load(c.data + r * c.pitch + lanes);
  }
  for (int64_t i = 0; i < k; ++i) {
    const Floats b_left = load(b.data + i * b.pitch), b_right = load(b.data + i * b.pitch + lanes);
    for (int r = 0; r < rows; ++r) {
      const float factor = a.data[r * a.pitch + i];
      left[r] += factor * b_left;
      right[r] += factor * b_right;
    }
  }
  for (int r = 0; r < rows; ++r) {
    store(c.data + r * c.pitch, left[r]);
    store(c.data + r * c.pitch + lanes, right[r]);
  }
}

// What is left of C beside its whole blocks: columns [first_col, n).
void multiply_rest(int64_t m, int64_t first_col, int64_t n, int64_t k, ConstMatrix a, ConstMatrix b,
                   Matrix c) {
  for (int64_t r = 0; r < m; ++r)
    for (int64_t i = 0; i < k; ++i)
      for (int64_t col = first_col; col < n; ++col)
        c.data[r * c.pitch + col] += a.data[r * a.pitch + i] * b.data[i * b.pitch + col];
}

}  // namespace

void multiply_add(int64_t m, int64_t n, int64_t k, ConstMatrix a, ConstMatrix b, Matrix c) {
  const int64_t block_n = n / block_cols * block_cols;
  for (int64_t col = 0; col < block_n; col += block_cols) {
    const ConstMatrix b_block{b.data + col, b.pitch};
    int64_t row = 0;
    for (; row + 4 <= m; row += 4)
      multiply_block<4>(k, {a.data + row * a.pitch, a.pitch}, b_block,
                        {c.data + row * c.pitch + col, c.pitch});
    for (; row < m; ++row)
      multiply_block<1>(k, {a.data + row * a.pitch, a.pitch}, b_block,
                        {c.data + row * c.pitch + col, c.pitch});
  }
  multiply_rest(m, block_n, n, k, a, b, c);
}

}  // namespace attnprof
