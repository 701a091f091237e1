#include "problem/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace attnprof {
namespace {

// Tensors of one slice each, with rows of `cols` elements.
class Given : public OperandValues {
 public:
  explicit Given(size_t cols) : cols_(cols) {}
  std::map<OperandId, std::vector<float>> tensors;

  std::span<const float> rows(OperandId id, int64_t, int64_t row, int64_t rows) const override {
    const size_t cols = id >= operand_q_scale && id <= operand_v_scale ? 1 : cols_;
    return std::span(tensors.at(id))
        .subspan(static_cast<size_t>(row) * cols, static_cast<size_t>(rows) * cols);
  }

 private:
  size_t cols_;
};

Problem two_keys(Mask mask = Mask::full) {
  return {
      .dtype = Dtype::fp32, .mask = mask, .heads = 1, .kv_heads = 1, .q_len = 2, .kv_len = 2, .head_dim = 4};
}

// O of query `row`, all of whose queries are alike.
std::vector<double> output_row(const Problem& p, int64_t row, std::vector<float> q, std::vector<float> k,
                               std::vector<float> v, std::vector<float> scales = {1, 1, 1}) {
  Given given(static_cast<size_t>(p.head_dim));
  std::vector<float> queries;
  for (int64_t i = 0; i < p.q_len; ++i) queries.insert(queries.end(), q.begin(), q.end());
  given.tensors = {{operand_q, queries},           {operand_k, std::move(k)},
                   {operand_v, std::move(v)},      {operand_q_scale, {scales[0]}},
                   {operand_k_scale, {scales[1]}}, {operand_v_scale, {scales[2]}}};
  return make_reference(p, given)->row(operand_o, 0, row);
}

TEST(ForwardReference, ARowByHand) {
  const std::vector<float> v = {1, 2, 3, 4, 5, 6, 7, 8};
  // Scores 2 and 0 over sqrt(4): weights e and 1.
  const double e = std::exp(1.0);
  const std::vector<double> row = output_row(two_keys(), 1, {1, 0, 0, 0}, {2, 0, 0, 0, 0, 0, 0, 0}, v);
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(row[c], (e * v[c] + v[4 + c]) / (e + 1), 1e-15);
}

TEST(ForwardReference, CausalRowsSeeTheirPrefix) {
  const std::vector<float> q(4, 1), k(8, 1), v = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(output_row(two_keys(Mask::causal), 0, q, k, v), (std::vector<double>{1, 2, 3, 4}));
  Problem longer = two_keys(Mask::causal);
  longer.q_len = 3;
  EXPECT_EQ(output_row(longer, 0, q, k, v), std::vector<double>(4, 0.0)) << "sees no key";
}

TEST(ForwardReference, LargeScoresDoNotOverflow) {
  EXPECT_EQ(output_row(two_keys(), 0, std::vector<float>(4, 100), std::vector<float>(8, 100),
                       std::vector<float>(8, 3)),
            std::vector<double>(4, 3.0));
}

// Elements with scales are the values they stand for.
TEST(ForwardReference, ScalesAreMultipliedIn) {
  const std::vector<float> q = {1, -2, 3, 0.5f}, k = {2, 0, 1, -1, 0, 1, 1, 4}, v = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto times = [](std::vector<float> values, float scale) {
    for (float& value : values) value *= scale;
    return values;
  };
  Problem scaled = two_keys();
  scaled.dtype = Dtype::fp8;
  const std::vector<double> row = output_row(scaled, 0, q, k, v, {0.5, 0.25, 4});
  const std::vector<double> values = output_row(two_keys(), 0, times(q, 0.5f), times(k, 0.25f), times(v, 4));
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(row[c], values[c], 1e-14);
  EXPECT_NE(row, output_row(two_keys(), 0, q, k, v));
}

}  // namespace
}  // namespace attnprof
