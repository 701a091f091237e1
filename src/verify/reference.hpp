// Attention in fp64 on the host, and how far an output may be from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "plan/problem.hpp"
#include "roofline/row.hpp"

namespace attnprof {

// One query row of the output, softmax(q K^T / sqrt(d)) V over the visible keys, in fp64; zeros when it sees
// none. q: head_dim values; k, v: kv_len x head_dim, row-major; row: the query's index (for the causal mask).
std::vector<double> reference_row(const Problem& problem, int64_t row, std::span<const float> q,
                                  std::span<const float> k, std::span<const float> v);

// Largest relative Frobenius error a right kernel may have: fp32 1e-5, fp16 2e-3, bf16 1.5e-2.
double tolerance(Dtype dtype);

struct SampledRow {
  int64_t slice;  // batch * heads + head
  int64_t row;
};

// The query rows to check: in every (batch, kv head) group at least one, heads of a group in turn; always
// first and last rows among them. `full`: every row of every slice.
std::vector<SampledRow> rows_to_verify(const Problem& problem, uint64_t seed, bool full);

// Collects differences and gives the verdict.
class ErrorMeter {
 public:
  void add(std::span<const double> expected, std::span<const float> actual);
  Verification verdict(Dtype dtype) const;  // not finite anywhere: verified=no

 private:
  double error_squares_ = 0;
  double reference_squares_ = 0;
  double max_abs_ = 0;
  bool finite_ = true;
};

}  // namespace attnprof
