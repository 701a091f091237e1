#include "schedule/online_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "lib/flash3_layout.h"
#include "problem/rounding.hpp"
#include "problem/visible.hpp"
#include "schedule/tile_product.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Q K^T, row-major q.rows x k.rows.
std::vector<float> scores(const TileValues& q, const TileValues& k) {
  std::vector<float> transposed(k.values.size());
  for (int64_t j = 0; j < k.rows; ++j)
    for (int64_t c = 0; c < k.cols; ++c) transposed[static_cast<size_t>(c * k.rows + j)] = k.at(j, c);
  std::vector<float> s(static_cast<size_t>(q.rows * k.rows), 0.0f);
  multiply_add(q.rows, k.rows, q.cols, {q.values.data(), q.cols}, {transposed.data(), k.rows},
               {s.data(), k.rows});
  return s;
}

// What the second product multiplies V with. e4m3 has few small numbers: P is rounded scaled up, and O scaled
// down again (kernels/lib/flash3_layout.h).
float rounded_probability(Dtype dtype, float probability) {
  const ElementType type = element_of(dtype);
  if (dtype != Dtype::fp8) return round_to(type, probability);
  return std::ldexp(round_to(type, std::ldexp(probability, probability_exponent)), -probability_exponent);
}

std::span<float> part_of(std::span<float> row, const IndexRange& range) {
  return row.subspan(static_cast<size_t>(range.first), static_cast<size_t>(range.end - range.first));
}

float largest(std::span<float> s, const KeyRanges& seen) {
  float maximum = -std::numeric_limits<float>::infinity();
  for (int i = 0; i < seen.count; ++i)
    maximum = std::max(maximum, *std::ranges::max_element(part_of(s, seen.at[i])));
  return maximum;
}

// P in place of S for one row of which the keys `seen` count; the rest become zero. Returns P's sum before
// rounding.
float exponentials(std::span<float> s, const KeyRanges& seen, float scale, float maximum, Dtype dtype) {
  float sum = 0;
  size_t done = 0;
  for (int i = 0; i < seen.count; ++i) {
    const auto first = static_cast<size_t>(seen.at[i].first);
    std::ranges::fill(s.subspan(done, first - done), 0.0f);
    for (float& element : part_of(s, seen.at[i])) {
      const float probability = std::exp(element * scale - maximum);
      sum += probability;
      element = rounded_probability(dtype, probability);
    }
    done = static_cast<size_t>(seen.at[i].end);
  }
  std::ranges::fill(s.subspan(done), 0.0f);
  return sum;
}

}  // namespace

OnlineSoftmax::OnlineSoftmax(int64_t rows, int64_t head_dim)
    : m(static_cast<size_t>(rows), -std::numeric_limits<float>::infinity()),
      l(static_cast<size_t>(rows), 0.0f),
      o{rows, head_dim, std::vector<float>(static_cast<size_t>(rows * head_dim), 0.0f)} {}

void OnlineSoftmax::add_tile(const Problem& p, const TileValues& q, QueryRow first, const TileValues& k,
                             const TileValues& v, int64_t key) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  std::vector<float> s = scores(q, k);
  for (int64_t i = 0; i < q.rows; ++i) {
    const std::span<float> s_row(s.data() + i * k.rows, static_cast<size_t>(k.rows));
    const KeyRanges seen = visible_in_tile(p, first.slice, first.row + i, key, k.rows);
    if (seen.count == 0) {
      std::ranges::fill(s_row, 0.0f);
      continue;
    }
    float& m_row = m[static_cast<size_t>(i)];
    const float m_new = std::max(m_row, largest(s_row, seen) * scale);
    const float correction = std::exp(m_row - m_new);
    m_row = m_new;
    float& l_row = l[static_cast<size_t>(i)];
    l_row = l_row * correction + exponentials(s_row, seen, scale, m_new, p.dtype);
    for (int64_t c = 0; c < o.cols; ++c) o.at(i, c) *= correction;
  }
  multiply_add(q.rows, o.cols, k.rows, {s.data(), k.rows}, {v.values.data(), v.cols},
               {o.values.data(), o.cols});
}

TileValues OnlineSoftmax::normalised() const {
  TileValues result = o;
  for (int64_t i = 0; i < o.rows; ++i)
    for (int64_t c = 0; c < o.cols; ++c)
      result.at(i, c) = l[static_cast<size_t>(i)] > 0 ? o.at(i, c) / l[static_cast<size_t>(i)] : 0.0f;
  return result;
}

}  // namespace attnprof
