#include "measure/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace attnprof {
namespace {

std::vector<double> sorted(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::ranges::sort(copy);
  return copy;
}

double median_of_sorted(std::span<const double> values) {
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double quantile_of_sorted(std::span<const double> values, double share) {
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

}  // namespace

double median(std::span<const double> values) { return median_of_sorted(sorted(values)); }

double quantile(std::span<const double> values, double share) {
  return quantile_of_sorted(sorted(values), share);
}

int median_interval_rank(int n) {
  if (n < 6) return 0;
  // P(X = i) for Binomial(n, 1/2), through logarithms as 2^-n underflows for large n.
  const double log_total = n * std::log(2.0);
  double below = 0;
  for (int i = 0; i < n; ++i) {
    below += std::exp(std::lgamma(n + 1.0) - std::lgamma(i + 1.0) - std::lgamma(n - i + 1.0) - log_total);
    if (below > 0.025) return i;  // P(X < i) was the last that fits
  }
  return 0;
}

std::optional<Interval> median_interval(std::span<const double> values) {
  const int n = static_cast<int>(values.size());
  const int rank = median_interval_rank(n);
  if (rank == 0) return std::nullopt;
  const std::vector<double> ordered = sorted(values);
  return Interval{ordered[static_cast<size_t>(rank - 1)], ordered[static_cast<size_t>(n - rank)]};
}

std::optional<double> drift_percent(std::span<const double> values) {
  if (values.size() < 6) return std::nullopt;
  const size_t third = values.size() / 3;
  return (median(values.last(third)) / median(values.first(third)) - 1) * 100;
}

Summary summarise(std::span<const double> values) {
  const std::vector<double> ordered = sorted(values);
  return {.median = median_of_sorted(ordered),
          .min = ordered.front(),
          .p90 = quantile_of_sorted(ordered, 0.9),
          .ci95 = median_interval(ordered),
          .drift_pct = drift_percent(values),
          .samples = static_cast<int>(values.size())};
}

std::optional<double> relative_half_width(const Summary& summary) {
  if (!summary.ci95 || summary.median <= 0) return std::nullopt;
  return (summary.ci95->high - summary.ci95->low) / 2 / summary.median;
}

}  // namespace attnprof
