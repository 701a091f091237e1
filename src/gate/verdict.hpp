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
  std::string why;         // of an ambiguous one; of a worse one what else to know
  double uncertainty = 0;  // of HBM bytes: half of the interval of the change, as a share of the baseline
};

// How much worse `current` is as a share of the baseline; negative when it is better, infinite from 0 to x.
double worsening(const Metric& metric, double baseline, double current);

// Bytes, FLOPs, build metrics and other people's columns.
Judgement judge_amount(const Metric& metric, double baseline, double current);

// Registers and shared memory that count by the blocks they leave room for: of what both rows say of the
// warps that an SM holds at once, more is worse where these became fewer, less better where they became more.
// Where a row does not say it, as judge_amount.
Judgement judge_by_warps(const Metric& metric, double baseline, double current,
                         std::optional<double> baseline_warps, std::optional<double> current_warps);

// What a row says of its time.
struct Timing {
  double median_ns = 0;
  std::optional<double> low_ns, high_ns;  // 95 % interval of the median
  std::optional<double> cycles;           // sm_cycles
  std::optional<double> clock_mhz;
  std::string_view flags;  // as in the row
};

// Worse (better) only if the one-sided 95 % interval of the ratio of medians lies wholly beyond the threshold
// and the difference beyond the floor. The interval joins those of the two medians on a log scale by variance
// recovery (MOVER; Zou and Donner, Statistics in Medicine 27, 2008). One-sided, because only one end decides:
// the lower end of a two-sided 95 % interval would leave a slowdown of the threshold itself a chance of 2.5
// %, not 5 %, and miss real ones for it. A slowdown that cannot be held against the kernel is ambiguous: the
// interval crosses the threshold or is missing, the GPU was shared, throttled to another clock than the other
// run's, the time drifted, or most of it is absent from SM cycles. A gain of that kind is `same`.
Judgement judge_latency(const Metric& metric, const Timing& baseline, const Timing& current);

// What a row says of its HBM bytes.
struct HbmCounts {
  double bytes = 0;                  // median of the counts
  std::optional<double> spread_pct;  // (max - min) / median; nothing for one count
  std::optional<double> counts;      // nothing in files older than the column
};

// How far the median of a row's counts may lie from that of endless counting, as a share of it: four standard
// errors. The counts' deviation is their range over its expectation for so many normal values (Tippett's d2),
// the median's error 1.25 deviations over the root of their number. 0 for a single count, of which nothing is
// known.
double hbm_uncertainty(const HbmCounts& row);

// Worse (better) only if the change lies beyond the threshold by more than both rows' uncertainties explain;
// a loss in between is ambiguous, a gain in between `same`.
Judgement judge_hbm(const Metric& metric, const HbmCounts& baseline, const HbmCounts& current);

}  // namespace attnprof
