// The verdict on one metric of one row. Pure: numbers in, a verdict and its reason out.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gate/metric.hpp"

namespace attnprof {

enum class Verdict { same, better, worse, ambiguous };
std::string_view to_string(Verdict verdict);

struct Judgement {
  Verdict verdict = Verdict::same;
  std::string why;  // of an ambiguous one
};

// How much worse `current` is as a share of the baseline; negative when it is better, infinite from 0 to x.
double worsening(const Metric& metric, double baseline, double current);

// Bytes, FLOPs, build metrics and other people's columns.
Judgement judge_amount(const Metric& metric, double baseline, double current);

// What a row says of its time.
struct Timing {
  double median_ns = 0;
  std::optional<double> low_ns, high_ns;  // 95 % interval of the median
  std::optional<double> cycles;           // sm_cycles
  std::optional<double> clock_mhz;
  std::string_view flags;  // as in the row
};

// Worse (better) only if the 95 % interval of the ratio of medians lies wholly beyond the threshold and the
// difference beyond the floor. The interval joins those of the two medians on a log scale by variance
// recovery (MOVER; Zou and Donner, Statistics in Medicine 27, 2008). A slowdown that cannot be held against
// the kernel is ambiguous: the interval crosses the threshold or is missing, the GPU was shared or throttled,
// the time drifted, or most of it is absent from SM cycles. A gain of that kind is `same`.
Judgement judge_latency(const Metric& metric, const Timing& baseline, const Timing& current);

// HBM counts of a row whose own repeats disagree (flag noisy_bytes) by more than the change are ambiguous.
Judgement judge_hbm(const Metric& metric, double baseline, double current, double noisy_spread_pct);

}  // namespace attnprof
