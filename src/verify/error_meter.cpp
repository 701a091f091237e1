#include "verify/error_meter.hpp"

#include <algorithm>
#include <cmath>

namespace attnprof {
namespace {

// Where the reference is all zero (rows that see no key), the error itself is the measure.
double relative(double error_squares, double reference_squares) {
  return std::sqrt(reference_squares > 0 ? error_squares / reference_squares : error_squares);
}

}  // namespace

void ErrorMeter::add(std::span<const double> expected, std::span<const float> actual) {
  for (size_t at = 0; at < expected.size(); at += row_elements_)
    add_row(expected.subspan(at, row_elements_), actual.subspan(at, row_elements_));
}

void ErrorMeter::add_row(std::span<const double> expected, std::span<const float> actual) {
  double error_squares = 0, reference_squares = 0;
  for (size_t c = 0; c < expected.size(); ++c) {
    const double error = actual[c] - expected[c];
    if (!std::isfinite(error)) finite_ = false;
    error_squares += error * error;
    reference_squares += expected[c] * expected[c];
    max_abs_ = std::max(max_abs_, std::abs(error));
  }
  error_squares_ += error_squares;
  reference_squares_ += reference_squares;
  worst_row_ = std::max(worst_row_, relative(error_squares, reference_squares));
  if (rows_may_vanish_) rows_.push_back({error_squares, reference_squares});
}

double ErrorMeter::rel_err() const { return relative(error_squares_, reference_squares_); }

double ErrorMeter::worst_row() const {
  if (rows_.empty()) return worst_row_;
  const double mean_squares = reference_squares_ / static_cast<double>(rows_.size());
  double worst = 0;
  for (const RowSquares& row : rows_)
    worst = std::max(worst, relative(row.error, std::max(row.reference, mean_squares)));
  return worst;
}

bool ErrorMeter::right(double tolerance) const {
  return finite_ && rel_err() <= tolerance && worst_row() <= row_slack * tolerance;
}

}  // namespace attnprof
