// How far an output is from what was expected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnprof {

// How much further than the tolerance for all rows together a single row may be off. Among thousands of right
// rows one that is wrong would not show in a norm over all.
inline constexpr double row_slack = 10;

// Collects differences, row by row.
class ErrorMeter {
 public:
  // `rows_may_vanish`: PassOutput's.
  explicit ErrorMeter(int64_t row_elements, bool rows_may_vanish = false)
      : row_elements_(static_cast<size_t>(row_elements)), rows_may_vanish_(rows_may_vanish) {}

  // Whole rows, row-major, of both the same.
  void add(std::span<const double> expected, std::span<const float> actual);
  // An element that is not finite was seen elsewhere.
  void add_not_finite() { finite_ = false; }

  bool finite() const { return finite_; }
  double rel_err() const;  // Frobenius norm of the error over that of what was expected
  double max_abs_err() const { return max_abs_; }
  // False where an element is not finite, the rows together are off by more than the tolerance, or one row is
  // by more than row_slack times that, of its own norm or, where rows may vanish, of the mean row's if that
  // is larger.
  bool right(double tolerance) const;

 private:
  void add_row(std::span<const double> expected, std::span<const float> actual);

  double worst_row() const;

  size_t row_elements_;
  bool rows_may_vanish_;
  double error_squares_ = 0;
  double reference_squares_ = 0;
  double max_abs_ = 0;
  double worst_row_ = 0;  // relative error
  struct RowSquares {
    double error, reference;
  };
  std::vector<RowSquares> rows_ = {};  // kept where rows may vanish
  bool finite_ = true;
};

}  // namespace attnprof
