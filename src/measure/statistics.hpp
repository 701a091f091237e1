// Statistics of repeated measurements that assume no distribution: order statistics only.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace attnprof {

// Mean of the two middle values for an even count. `values` must not be empty; any order.
double median(std::span<const double> values);

// The smallest value that at least `share` (0 to 1) of all values do not exceed (nearest rank).
double quantile(std::span<const double> values, double share);

struct Interval {
  double low;
  double high;
};

// Ranks (from 1) of the order statistics that enclose the median of any continuous distribution with at least
// 95 % probability: rank k and n + 1 - k, with the largest k for which a Binomial(n, 1/2) variable is below k
// with probability at most 2.5 %. 0 when n < 6: there even the extremes enclose it less often.
int median_interval_rank(int n);

// The 95 % confidence interval of the median; nothing below 6 values.
std::optional<Interval> median_interval(std::span<const double> values);

// Median of the last third over the median of the first third, minus one, in percent; `values` in the order
// they were measured. Nothing below 6 values.
std::optional<double> drift_percent(std::span<const double> values);

struct Summary {
  double median, min, p90;
  std::optional<Interval> ci95;
  std::optional<double> drift_pct;
  int samples;
};
Summary summarise(std::span<const double> values);

// Half the interval's width over the median: what --precision is held against.
std::optional<double> relative_half_width(const Summary& summary);

}  // namespace attnprof
