#include "variants/online_softmax.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "verify/rounding.hpp"

namespace attnprof {

OnlineSoftmax::OnlineSoftmax(int64_t rows, int64_t head_dim)
    : m(static_cast<size_t>(rows), -std::numeric_limits<float>::infinity()),
      l(static_cast<size_t>(rows), 0.0f),
      o{rows, head_dim, std::vector<float>(static_cast<size_t>(rows * head_dim), 0.0f)} {}

void OnlineSoftmax::add_tile(const Problem& p, const TileValues& q, int64_t row, const TileValues& k,
                             const TileValues& v, int64_t key) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(p.head_dim));
  std::vector<float> scores(static_cast<size_t>(k.rows));
  for (int64_t i = 0; i < q.rows; ++i) {
    const int64_t visible = std::min(k.rows, visible_keys(p, row + i) - key);
    if (visible <= 0) continue;
    float m_new = m[static_cast<size_t>(i)];
    for (int64_t j = 0; j < visible; ++j) {
      float dot = 0;
      for (int64_t c = 0; c < q.cols; ++c) dot += q.at(i, c) * k.at(j, c);
      scores[static_cast<size_t>(j)] = dot * scale;
      m_new = std::max(m_new, dot * scale);
    }
    const float correction = std::exp(m[static_cast<size_t>(i)] - m_new);
    float& row_sum = l[static_cast<size_t>(i)];
    row_sum *= correction;
    for (int64_t c = 0; c < o.cols; ++c) o.at(i, c) *= correction;
    for (int64_t j = 0; j < visible; ++j) {
      const float probability = std::exp(scores[static_cast<size_t>(j)] - m_new);
      row_sum += probability;
      const float rounded = round_to(p.dtype, probability);
      for (int64_t c = 0; c < o.cols; ++c) o.at(i, c) += rounded * v.at(j, c);
    }
    m[static_cast<size_t>(i)] = m_new;
  }
}

TileValues OnlineSoftmax::normalised() const {
  TileValues result = o;
  for (int64_t i = 0; i < o.rows; ++i)
    for (int64_t c = 0; c < o.cols; ++c)
      result.at(i, c) = l[static_cast<size_t>(i)] > 0 ? o.at(i, c) / l[static_cast<size_t>(i)] : 0.0f;
  return result;
}

}  // namespace attnprof
