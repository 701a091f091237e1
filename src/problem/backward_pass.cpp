// The backward pass: dQ, dK and dV of a loss whose gradient by O is dO (Dao 2022, Appendix B.2; Dao 2023,
// section 3.1.2): P = exp(S - LSE), dV = P^T dO, dP = dO V^T, dS = P o (dP - rowsum(dO o O)), dQ = dS K /
// sqrt(d), dK = dS^T Q / sqrt(d). A kv head's gradients are sums over the query heads that read it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "problem/kv_view.hpp"
#include "problem/passes.hpp"
#include "problem/visible.hpp"

namespace attnprof {

const PassSpec& backward_pass();

namespace {

std::optional<std::string> unsupported_backward(const Problem& p) {
  if (p.dtype == Dtype::fp8) return "the backward pass takes fp32, fp16 and bf16, not fp8";
  if (p.page_size > 0)
    return fmt::format("the backward pass takes dense K and V, not pages of {}", p.page_size);
  return std::nullopt;
}

// What the forward pass left (O, LSE) is made by steps that are not timed; dO is an input.
OperandList backward_operands(const Problem& p) {
  const auto tensor = [&](const char* name, OperandId id, Role role, int64_t heads, int64_t rows) {
    const Init init = role == Role::input ? Init::random : Init::poison;
    return Operand{name, role, init, element_of(p.dtype), p.batch, heads, rows, p.head_dim, p.head_dim, id};
  };
  const auto of_queries = [&](const char* name, OperandId id, Role role) {
    return tensor(name, id, role, p.heads, p.q_len);
  };
  const auto of_keys = [&](const char* name, OperandId id, Role role) {
    return tensor(name, id, role, p.kv_heads, p.kv_len);
  };
  Operand lse = of_queries("LSE", operand_lse, Role::derived);  // a row a query, of one element
  lse.dtype = ElementType::fp32, lse.cols = lse.row_pitch = 1;
  return {of_queries("Q", operand_q, Role::input),
          of_keys("K", operand_k, Role::input),
          of_keys("V", operand_v, Role::input),
          of_queries("O", operand_o, Role::derived),
          lse,
          of_queries("dO", operand_d_o, Role::input),
          of_queries("dQ", operand_d_q, Role::output),
          of_keys("dK", operand_d_k, Role::output),
          of_keys("dV", operand_d_v, Role::output)};
}

// Gradients pass through two more roundings of their tensors' type than O: P and dS before they multiply, and
// O in rowsum(dO o O).
double backward_tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 2e-5;
    case Dtype::fp16:
      return 4e-3;
    case Dtype::bf16:
      return 3e-2;
    case Dtype::fp8:
      return 1e-1;
  }
  return 0;
}

double dot(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t c = 0; c < a.size(); ++c) sum += static_cast<double>(a[c]) * b[c];
  return sum;
}

// Keeps of every query of the slices asked for so far what all gradients need.
class BackwardReference : public Reference {
 public:
  BackwardReference(const Problem& problem, const OperandValues& values)
      : problem_(problem),
        values_(values),
        view_(problem),
        scale_(1 / std::sqrt(static_cast<double>(problem.head_dim))) {}

  std::vector<double> row(OperandId output, int64_t slice, int64_t row) override {
    std::vector<double> gradient(static_cast<size_t>(problem_.head_dim), 0.0);
    if (output == operand_d_q)
      add_query_gradient(slice, row, gradient);
    else
      add_key_gradient(output, slice, row, gradient);
    return gradient;
  }

 private:
  // Of one query: log sum exp of its scores, and sum over its keys of P dP, which is dO . O.
  struct Statistics {
    double lse = 0, delta = 0;
  };

  std::span<const float> query(OperandId id, int64_t slice, int64_t row) const {
    return values_.rows(id, slice, row, 1);
  }
  std::span<const float> key(OperandId id, int64_t slice, int64_t j) const {
    const KvView::Place place = view_.row(slice / problem_.heads, kv_head(problem_, slice), j);
    return values_.rows(id, place.slice, place.row, 1);
  }

  template <typename F>
  void for_each_key(int64_t slice, int64_t row, F f) const {
    const KeyRanges keys = visible(problem_, slice / problem_.heads, row);
    for (int r = 0; r < keys.count; ++r)
      for (int64_t j = keys.at[r].first; j < keys.at[r].end; ++j) f(j);
  }

  double score(int64_t slice, int64_t row, int64_t j) const {
    return dot(query(operand_q, slice, row), key(operand_k, slice, j)) * scale_;
  }
  double d_p(int64_t slice, int64_t row, int64_t j) const {
    return dot(query(operand_d_o, slice, row), key(operand_v, slice, j));
  }

  Statistics statistics_of(int64_t slice, int64_t row) const {
    std::vector<double> scores;
    double maximum = -INFINITY, sum = 0, weighted = 0;
    for_each_key(slice, row, [&](int64_t j) {
      scores.push_back(score(slice, row, j));
      maximum = std::max(maximum, scores.back());
    });
    auto next = scores.begin();
    for_each_key(slice, row, [&](int64_t j) {
      const double weight = std::exp(*next++ - maximum);
      sum += weight;
      weighted += weight * d_p(slice, row, j);
    });
    return {maximum + std::log(sum), weighted / sum};
  }

  const Statistics& statistics(int64_t slice, int64_t row) {
    std::vector<std::optional<Statistics>>& rows = kept_[slice];
    rows.resize(static_cast<size_t>(problem_.q_len));
    std::optional<Statistics>& kept = rows[static_cast<size_t>(row)];
    if (!kept) kept = statistics_of(slice, row);
    return *kept;
  }

  void add_query_gradient(int64_t slice, int64_t row, std::vector<double>& d_q) {
    const Statistics at = statistics(slice, row);
    for_each_key(slice, row, [&](int64_t j) {
      const double p = std::exp(score(slice, row, j) - at.lse);
      const double factor = p * (d_p(slice, row, j) - at.delta) * scale_;
      const auto k = key(operand_k, slice, j);
      for (size_t c = 0; c < d_q.size(); ++c) d_q[c] += factor * k[c];
    });
  }

  // Of dK or dV: over all queries of the group's heads that see the key.
  void add_key_gradient(OperandId output, int64_t kv, int64_t j, std::vector<double>& gradient) {
    const int64_t sequence = kv / problem_.kv_heads, group = problem_.group();
    const int64_t first_slice = sequence * problem_.heads + kv % problem_.kv_heads * group;
    const IndexRange rows = seeing(problem_, sequence, j, j + 1);
    for (int64_t slice = first_slice; slice < first_slice + group; ++slice)
      for (int64_t row = rows.first; row < rows.end; ++row) {
        const Statistics& at = statistics(slice, row);
        const double p = std::exp(score(slice, row, j) - at.lse);
        const bool of_v = output == operand_d_v;
        const double factor = of_v ? p : p * (d_p(slice, row, j) - at.delta) * scale_;
        const auto from = query(of_v ? operand_d_o : operand_q, slice, row);
        for (size_t c = 0; c < gradient.size(); ++c) gradient[c] += factor * from[c];
      }
  }

  Problem problem_;
  const OperandValues& values_;
  KvView view_;
  double scale_;
  std::map<int64_t, std::vector<std::optional<Statistics>>> kept_;  // by slice and row, once asked for
};

}  // namespace

const PassSpec& backward_pass() {
  static const PassSpec spec{
      .name = "bwd",
      .operands = backward_operands,
      // S = Q K^T, dV = P^T dO, dP = dO V^T, dQ = dS K, dK = dS^T Q.
      .products = [](const Problem& p) { return std::vector<int64_t>(5, p.head_dim); },
      // dQ and dK are differences: a query that attends to one key alone has almost none.
      .outputs = {{operand_d_q, Axis::query, backward_tolerance, true},
                  {operand_d_k, Axis::key, backward_tolerance, true},
                  {operand_d_v, Axis::key, backward_tolerance}},
      .unsupported = unsupported_backward,
      .reference = [](const Problem& p, const OperandValues& values) -> std::unique_ptr<Reference> {
        return std::make_unique<BackwardReference>(p, values);
      },
      .device_reference = {.rows = "reference_backward",
                           .prepare = "reference_backward_statistics",
                           .scratch_values = [](const Problem& p) {
                             return 2 * p.batch * p.heads * p.q_len;
                           }}};
  return spec;
}

}  // namespace attnprof
