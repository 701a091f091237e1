#include "gate/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "row/schema.hpp"

namespace attnprof {
namespace {

struct Ratio {
  double low, high;
};

// The rows' intervals are two-sided; an end that 5 % lie beyond is this much nearer to the median (the ratio
// of the normal distribution's 95 % and 97.5 % quantiles, since medians of many samples are near normal).
constexpr double one_sided = 1.645 / 1.960;

std::optional<Ratio> ratio_interval(const Timing& baseline, const Timing& current) {
  for (const Timing* timing : {&baseline, &current})
    if (!timing->low_ns || !timing->high_ns || *timing->low_ns <= 0) return std::nullopt;
  const auto log_share = [](double a, double b) { return std::log(a / b); };
  const double center = log_share(current.median_ns, baseline.median_ns);
  const double down = std::hypot(log_share(current.median_ns, *current.low_ns),
                                 log_share(*baseline.high_ns, baseline.median_ns));
  const double up = std::hypot(log_share(*current.high_ns, current.median_ns),
                               log_share(baseline.median_ns, *baseline.low_ns));
  return Ratio{std::exp(center - one_sided * down), std::exp(center + one_sided * up)};
}

bool flagged(std::string_view flags, Flag flag) {
  return has_flag({.disposition = {}, .reason = {}, .flags = std::string(flags)}, flag);
}

// Throttling shows in time only as another clock: the driver also reports it of rows that ran at the full
// one.
bool at_one_clock(const Timing& baseline, const Timing& current) {
  constexpr double clock_step = 0.005;  // an H200's is 15 of 1980 MHz
  return baseline.clock_mhz && current.clock_mhz &&
         std::abs(*current.clock_mhz - *baseline.clock_mhz) <= clock_step * *baseline.clock_mhz;
}

// Why a row's time says little of the kernel; empty when nothing speaks against it.
std::string disturbance(const Timing& baseline, const Timing& current) {
  constexpr std::array reasons = {std::pair{Flag::gpu_shared, "shared its GPU with another process"},
                                  std::pair{Flag::throttled, "was throttled"},
                                  std::pair{Flag::drift, "drifted while it was timed"}};
  for (const auto& [flag, text] : reasons) {
    if (flag == Flag::throttled && at_one_clock(baseline, current)) continue;
    if (flagged(current.flags, flag)) return fmt::format("the current run {}", text);
    if (flagged(baseline.flags, flag)) return fmt::format("the baseline {}", text);
  }
  return "";
}

// A growth of cycles that does not bear out one of time, if there is one. Time times clock is of the timed
// samples themselves. Counted cycles are of one run under the profiler and are asked only where a clock is
// not known: below 200 us they differ by 8 % and more between two H200 processes that time the same within
// 0.3 %, above by 5 %, and so much they may fall short.
std::optional<double> cycles_against(double growth, const Timing& baseline, const Timing& current) {
  const auto contradicts = [&](double cycles, double scatter) {
    return cycles < growth / 2 - scatter ? std::optional(cycles) : std::nullopt;
  };
  if (baseline.clock_mhz.value_or(0) > 0 && current.clock_mhz)
    return contradicts((1 + growth) * *current.clock_mhz / *baseline.clock_mhz - 1, 0);
  if (baseline.cycles.value_or(0) > 0 && current.cycles)
    return contradicts(*current.cycles / *baseline.cycles - 1, 0.05);
  return std::nullopt;
}

std::string percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

Judgement ambiguous(std::string why) { return {.verdict = Verdict::ambiguous, .why = std::move(why)}; }

Judgement slowdown(double threshold, const Timing& baseline, const Timing& current) {
  const double growth = current.median_ns / baseline.median_ns - 1;
  const auto interval = ratio_interval(baseline, current);
  if (!interval) return ambiguous("a median has no confidence interval: too few samples");
  if (interval->low <= 1 + threshold)
    return ambiguous(fmt::format("its 95 % interval goes down to {}", percent(interval->low - 1)));
  if (const std::string why = disturbance(baseline, current); !why.empty()) return ambiguous(why);
  if (const auto cycles = cycles_against(growth, baseline, current))
    return ambiguous(
        fmt::format("SM cycles changed by only {}: a lower clock, not the kernel", percent(*cycles)));
  return {.verdict = Verdict::worse, .why = ""};
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  constexpr std::array names = {"same", "better", "worse", "ambiguous"};
  return names[static_cast<size_t>(verdict)];
}

double worsening(const Metric& metric, double baseline, double current) {
  const double loss = metric.direction == Direction::lower ? current - baseline : baseline - current;
  if (loss == 0) return 0;
  return baseline == 0 ? std::copysign(std::numeric_limits<double>::infinity(), loss)
                       : loss / std::abs(baseline);
}

Judgement judge_amount(const Metric& metric, double baseline, double current) {
  const double change = std::abs(current - baseline);
  if (change == 0 || change <= metric.floor || change <= metric.relative * std::abs(baseline)) return {};
  return {.verdict = worsening(metric, baseline, current) > 0 ? Verdict::worse : Verdict::better, .why = ""};
}

Judgement judge_by_warps(const Metric& metric, double baseline, double current,
                         std::optional<double> baseline_warps, std::optional<double> current_warps) {
  Judgement judgement = judge_amount(metric, baseline, current);
  if (!baseline_warps || !current_warps) return judgement;
  const bool fewer = *current_warps<*baseline_warps, more = *current_warps> * baseline_warps;
  if (judgement.verdict == Verdict::worse && fewer)
    judgement.why =
        fmt::format("{:.3g} % fewer warps fit an SM", 100 * (1 - *current_warps / *baseline_warps));
  else if (judgement.verdict != Verdict::better || !more)
    judgement.verdict = Verdict::same;
  return judgement;
}

double hbm_uncertainty(const HbmCounts& row) {
  // Expected range of 2, 3, ... normal values, in standard deviations.
  constexpr std::array d2 = {1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970,
                             3.078, 3.173, 3.258, 3.336, 3.407, 3.472, 3.532, 3.588,
                             3.640, 3.689, 3.735, 3.778, 3.819, 3.858, 3.895};
  constexpr double deviations =
      3.5;  // beyond the threshold, so that an unchanged kernel is hardly ever worse
  if (!row.spread_pct) return 0;
  const double least = 2, most = d2.size() + 1;  // a spread of more counts only looks larger
  const double counts = std::clamp(row.counts.value_or(least), least, most);
  const double deviation = *row.spread_pct / 100 / d2[static_cast<size_t>(counts) - 2];
  return deviations * 1.2533 * deviation / std::sqrt(counts);
}

Judgement judge_hbm(const Metric& metric, const HbmCounts& baseline, const HbmCounts& current) {
  Judgement judgement = judge_amount(metric, baseline.bytes, current.bytes);
  judgement.uncertainty = std::hypot(hbm_uncertainty(baseline), hbm_uncertainty(current));
  if (judgement.verdict == Verdict::same) return judgement;
  const double change = std::abs(worsening(metric, baseline.bytes, current.bytes));
  const double certain = change - judgement.uncertainty;
  if (judgement.verdict == Verdict::better) {
    if (certain <= metric.relative) judgement.verdict = Verdict::same;
    return judgement;
  }
  if (certain > metric.relative) {
    if (!baseline.spread_pct && !current.spread_pct) judgement.why = "counted once";
    return judgement;
  }
  judgement.verdict = Verdict::ambiguous;
  judgement.why = fmt::format("its counts scatter, which explains all but {}", percent(certain));
  return judgement;
}

Judgement judge_latency(const Metric& metric, const Timing& baseline, const Timing& current) {
  const Judgement point = judge_amount(metric, baseline.median_ns, current.median_ns);
  if (point.verdict == Verdict::worse) return slowdown(metric.relative, baseline, current);
  if (point.verdict == Verdict::same) return {};
  const auto interval = ratio_interval(baseline, current);
  const bool certain =
      interval && interval->high < 1 - metric.relative && disturbance(baseline, current).empty();
  return {.verdict = certain ? Verdict::better : Verdict::same, .why = ""};
}

}  // namespace attnprof
