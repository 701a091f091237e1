#include "verify/reference.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "verify/sampling.hpp"

namespace attnprof {
namespace {

// Where the reference is all zero (rows that see no key), the error itself is the measure.
double relative(double error_squares, double reference_squares) {
  return std::sqrt(reference_squares > 0 ? error_squares / reference_squares : error_squares);
}

}  // namespace

std::vector<double> reference_row(const Problem& p, int64_t row, std::span<const float> q,
                                  std::span<const float> k, std::span<const float> v,
                                  const HeadScales& scales) {
  const auto d = static_cast<size_t>(p.head_dim);
  const auto keys = static_cast<size_t>(visible_keys(p, row));
  const double scale = scales.q * scales.k / std::sqrt(static_cast<double>(p.head_dim));
  std::vector<double> weights(keys);
  double maximum = -std::numeric_limits<double>::infinity();
  for (size_t j = 0; j < keys; ++j) {
    double dot = 0;
    for (size_t c = 0; c < d; ++c) dot += static_cast<double>(q[c]) * k[j * d + c];
    weights[j] = dot * scale;
    maximum = std::max(maximum, weights[j]);
  }
  double sum = 0;
  std::vector<double> output(d, 0.0);
  for (size_t j = 0; j < keys; ++j) {
    const double weight = std::exp(weights[j] - maximum);
    sum += weight;
    for (size_t c = 0; c < d; ++c) output[c] += weight * v[j * d + c];
  }
  if (keys > 0)
    for (double& value : output) value *= scales.v / sum;
  return output;
}

double tolerance(Dtype dtype) {
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

std::vector<SampledRow> rows_to_verify(const Problem& p, uint64_t seed, bool full) {
  std::vector<SampledRow> rows;
  if (full) {
    for (int64_t slice = 0; slice < p.batch * p.heads; ++slice)
      for (int64_t row = 0; row < p.q_len; ++row) rows.push_back({slice, row});
    return rows;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> any_row(0, p.q_len - 1);
  const int64_t slices = p.batch * p.heads;
  const int64_t random_rows = std::max<int64_t>(1, least_random_rows / slices);
  for (int64_t slice = 0; slice < slices; ++slice) {
    // First and last rows hold the edges of masks and ragged tiles; random rows the rest.
    rows.push_back({slice, slice % 2 == 0 ? p.q_len - 1 : 0});
    for (int64_t i = 0; i < random_rows; ++i) rows.push_back({slice, any_row(random)});
  }
  if (slices == 1) rows.push_back({0, 0});
  return rows;
}

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
}

Verification ErrorMeter::verdict(Dtype dtype) const {
  Verification result;
  if (!finite_) {
    result.verified = "no";
    return result;
  }
  result.rel_err = relative(error_squares_, reference_squares_);
  result.max_abs_err = max_abs_;
  const bool right = *result.rel_err <= tolerance(dtype) && worst_row_ <= row_slack * tolerance(dtype);
  result.verified = right ? "yes" : "no";
  return result;
}

}  // namespace attnprof
