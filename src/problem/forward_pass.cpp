// The forward pass: O = softmax(Q K^T / sqrt(head_dim) + mask) V for every sequence and query head.
#include <algorithm>
#include <cmath>

#include "problem/kv_view.hpp"
#include "problem/passes.hpp"
#include "problem/visible.hpp"

namespace attnprof {

const PassSpec& forward_pass();

namespace {

// One row a sequence, which starts a sector.
Operand block_table(const Problem& p) {
  const int64_t pages = KvView(p).pages(), pitch = (pages + 7) / 8 * 8;
  return {.name = "block_table",
          .role = Role::input,
          .init = Init::pages,
          .dtype = ElementType::int32,
          .batch = p.batch,
          .heads = 1,
          .rows = 1,
          .cols = pages,
          .row_pitch = pitch,
          .id = operand_block_table,
          .unused = p.batch * (pitch - pages)};
}

// Q [batch, heads, q_len, head_dim], K and V [batch, kv_heads, kv_len, head_dim], O like Q in output_element.
// fp8 alone: the scales of Q [batch, heads], of K and of V [batch, kv_heads], fp32, each a slice of one
// element.
OperandList forward_operands(const Problem& p) {
  const auto tensor = [&](const char* name, OperandId id, int64_t heads, int64_t rows) {
    return Operand{name,  Role::input, Init::random, element_of(p.dtype), p.batch,
                   heads, rows,        p.head_dim,   p.head_dim,          id};
  };
  const auto scale = [&](const char* name, OperandId id, int64_t heads) {
    return Operand{name, Role::input, Init::scale, ElementType::fp32, p.batch, heads, 1, 1, 1, id};
  };
  const auto keys = [&](const char* name, OperandId id) {
    if (p.page_size == 0) return tensor(name, id, p.kv_heads, p.kv_len);
    Operand pages = tensor(name, id, p.kv_heads, p.page_size);
    pages.batch = p.batch * KvView(p).pages();
    pages.unused =
        saturating_product({p.batch, p.kv_heads, KvView(p).pages() * p.page_size - p.kv_len, p.head_dim});
    return pages;
  };
  Operand o = tensor("O", operand_o, p.heads, p.q_len);
  o.role = Role::output, o.init = Init::poison, o.dtype = output_element(p.dtype);
  OperandList all = {tensor("Q", operand_q, p.heads, p.q_len), keys("K", operand_k), keys("V", operand_v), o};
  if (p.page_size > 0) all.add(block_table(p));
  if (p.dtype == Dtype::fp8) {
    all.add(scale("q_scale", operand_q_scale, p.heads));
    all.add(scale("k_scale", operand_k_scale, p.kv_heads));
    all.add(scale("v_scale", operand_v_scale, p.kv_heads));
  }
  return all;
}

double forward_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 1e-5;
    case Dtype::fp16:
      return 2e-3;
    case Dtype::bf16:
      return 1.5e-2;
    case Dtype::fp8:
      return 5e-2;
  }
  return 0;
}

// Each row by itself, in two passes over its keys: the maximum first, so that nothing is rescaled.
class ForwardReference : public Reference {
 public:
  ForwardReference(const Problem& problem, const OperandValues& values)
      : problem_(problem), values_(values), view_(problem) {}

  std::vector<double> row(OperandId, int64_t slice, int64_t row) override {
    const int64_t sequence = slice / problem_.heads;
    const KeyRanges keys = visible(problem_, sequence, row);
    std::vector<double> output(static_cast<size_t>(problem_.head_dim), 0.0);
    if (keys.count == 0) return output;
    std::vector<double> weights = scores(slice, row, keys);
    const double maximum = *std::ranges::max_element(weights);
    double sum = 0;
    for (double& weight : weights) sum += weight = std::exp(weight - maximum);
    add_values(slice, keys, weights, output);
    for (double& value : output) value *= scale(operand_v_scale, kv_slice(problem_, slice)) / sum;
    return output;
  }

 private:
  double scale(OperandId id, int64_t slice) const {
    return problem_.dtype == Dtype::fp8 ? static_cast<double>(values_.rows(id, slice, 0, 1)[0]) : 1.0;
  }

  // Calls f(row of the operand, as elements) for every visible key.
  template <typename F>
  void for_each_key(OperandId id, int64_t slice, const KeyRanges& keys, F f) const {
    const auto d = static_cast<size_t>(problem_.head_dim);
    const int64_t sequence = slice / problem_.heads, head = kv_head(problem_, slice);
    for (int i = 0; i < keys.count; ++i)
      view_.for_each_piece(sequence, head, keys.at[i].first, keys.at[i].end,
                           [&](KvView::Place place, int64_t rows) {
                             const auto piece = values_.rows(id, place.slice, place.row, rows);
                             for (size_t j = 0; j < static_cast<size_t>(rows); ++j)
                               f(piece.subspan(j * d, d));
                           });
  }

  std::vector<double> scores(int64_t slice, int64_t row, const KeyRanges& keys) const {
    const auto q = values_.rows(operand_q, slice, row, 1);
    const double factor = scale(operand_q_scale, slice) * scale(operand_k_scale, kv_slice(problem_, slice)) /
                          std::sqrt(static_cast<double>(problem_.head_dim));
    std::vector<double> scores;
    scores.reserve(static_cast<size_t>(key_count(keys)));
    for_each_key(operand_k, slice, keys, [&](std::span<const float> k) {
      double dot = 0;
      for (size_t c = 0; c < k.size(); ++c) dot += static_cast<double>(q[c]) * k[c];
      scores.push_back(dot * factor);
    });
    return scores;
  }

  void add_values(int64_t slice, const KeyRanges& keys, const std::vector<double>& weights,
                  std::vector<double>& output) const {
    auto weight = weights.begin();
    for_each_key(operand_v, slice, keys, [&](std::span<const float> v) {
      for (size_t c = 0; c < v.size(); ++c) output[c] += *weight * v[c];
      ++weight;
    });
  }

  Problem problem_;
  const OperandValues& values_;
  KvView view_;
};

}  // namespace

const PassSpec& forward_pass() {
  static const PassSpec spec{
      .name = "fwd",
      .operands = forward_operands,
      .products =
          [](const Problem& p) {
            return std::vector{p.head_dim, p.head_dim};
          },
      .outputs = {{operand_o, Axis::query, forward_tolerance}},
      .reference = [](const Problem& p, const OperandValues& values) -> std::unique_ptr<Reference> {
        return std::make_unique<ForwardReference>(p, values);
      },
      .device_reference = {.rows = "reference_forward"}};
  return spec;
}

}  // namespace attnprof
