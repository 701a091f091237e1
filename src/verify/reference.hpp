// Attention in fp64 on the host, and how far an output may be from it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "problem/problem.hpp"
#include "row/row.hpp"

namespace attnprof {

// What elements are multiplied by; other than 1 in fp8 alone.
struct HeadScales {
  double q = 1, k = 1, v = 1;
};

// One query row of the output, softmax(q K^T / sqrt(d)) V over the visible keys, in fp64; zeros when it sees
// none. q: head_dim elements; k, v: kv_len x head_dim, row-major; row: the query's index (for the causal
// mask).
std::vector<double> reference_row(const Problem& problem, int64_t row, std::span<const float> q,
                                  std::span<const float> k, std::span<const float> v,
                                  const HeadScales& scales = {});

// Largest relative Frobenius error a right kernel may have: fp32 1e-5, fp16 2e-3, bf16 1.5e-2,
// fp8 5e-2, against the values its elements stand for.
double tolerance(Dtype dtype);

struct SampledRow {
  int64_t slice;  // batch * heads + head
  int64_t row;
};

// The query rows to check: of every (batch, query head) slice a first or last row and at least one random
// row, 64 random rows in all where there are few slices. `full`: every row of every slice.
std::vector<SampledRow> rows_to_verify(const Problem& problem, uint64_t seed, bool full);

// How much further than the tolerance for all rows together a single row may be off. Among thousands of right
// rows one that is wrong would not show in a norm over all.
inline constexpr double row_slack = 10;

// Collects differences and gives the verdict.
class ErrorMeter {
 public:
  explicit ErrorMeter(int64_t head_dim) : row_elements_(static_cast<size_t>(head_dim)) {}

  // Whole rows, row-major, of both the same.
  void add(std::span<const double> expected, std::span<const float> actual);
  // An element that is not finite was seen elsewhere.
  void add_not_finite() { finite_ = false; }
  // verified=no where an element is not finite (then without errors), the rows together are off by more than
  // the tolerance, or one row is by more than row_slack times that.
  Verification verdict(Dtype dtype) const;

 private:
  void add_row(std::span<const double> expected, std::span<const float> actual);

  size_t row_elements_;
  double error_squares_ = 0;
  double reference_squares_ = 0;
  double max_abs_ = 0;
  double worst_row_ = 0;  // relative error
  bool finite_ = true;
};

}  // namespace attnprof
