#include "gate/verdict.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "roofline/schema.hpp"

namespace attnprof {
namespace {

struct Ratio {
  double low, high;
};

std::optional<Ratio> ratio_interval(const Timing& baseline, const Timing& current) {
  for (const Timing* timing : {&baseline, &current})
    if (!timing->low_ns || !timing->high_ns || *timing->low_ns <= 0) return std::nullopt;
  const auto log_share = [](double a, double b) { return std::log(a / b); };
  const double center = log_share(current.median_ns, baseline.median_ns);
  const double down = std::hypot(log_share(current.median_ns, *current.low_ns),
                                 log_share(*baseline.high_ns, baseline.median_ns));
  const double up = std::hypot(log_share(*current.high_ns, current.median_ns),
                               log_share(baseline.median_ns, *baseline.low_ns));
  return Ratio{std::exp(center - down), std::exp(center + up)};
}

bool flagged(std::string_view flags, Flag flag) {
  return has_flag({.disposition = {}, .reason = {}, .flags = std::string(flags)}, flag);
}

// Why a row's time says little of the kernel; empty when nothing speaks against it.
std::string disturbance(const Timing& baseline, const Timing& current) {
  constexpr std::array reasons = {std::pair{Flag::gpu_shared, "shared its GPU with another process"},
                                  std::pair{Flag::throttled, "was throttled"},
                                  std::pair{Flag::drift, "drifted while it was timed"}};
  for (const auto& [flag, text] : reasons) {
    if (flagged(current.flags, flag)) return fmt::format("the current run {}", text);
    if (flagged(baseline.flags, flag)) return fmt::format("the baseline {}", text);
  }
  return "";
}

// Growth of the cycles the operation took: counted, or time times clock where nothing was counted.
std::optional<double> cycle_growth(const Timing& baseline, const Timing& current) {
  if (baseline.cycles && current.cycles && *baseline.cycles > 0)
    return *current.cycles / *baseline.cycles - 1;
  if (baseline.clock_mhz && current.clock_mhz && *baseline.clock_mhz > 0)
    return current.median_ns * *current.clock_mhz / (baseline.median_ns * *baseline.clock_mhz) - 1;
  return std::nullopt;
}

std::string percent(double share) { return fmt::format("{:+.2f} %", 100 * share); }

Judgement slowdown(double threshold, const Timing& baseline, const Timing& current) {
  const double growth = current.median_ns / baseline.median_ns - 1;
  const auto interval = ratio_interval(baseline, current);
  if (!interval) return {Verdict::ambiguous, "a median has no confidence interval: too few samples"};
  if (interval->low <= 1 + threshold)
    return {Verdict::ambiguous, fmt::format("its 95 % interval goes down to {}", percent(interval->low - 1))};
  if (const std::string why = disturbance(baseline, current); !why.empty()) return {Verdict::ambiguous, why};
  const auto cycles = cycle_growth(baseline, current);
  if (cycles && *cycles < growth / 2)
    return {Verdict::ambiguous,
            fmt::format("SM cycles changed by only {}: a lower clock, not the kernel", percent(*cycles))};
  return {Verdict::worse, ""};
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
  return {worsening(metric, baseline, current) > 0 ? Verdict::worse : Verdict::better, ""};
}

Judgement judge_hbm(const Metric& metric, double baseline, double current, double noisy_spread_pct) {
  Judgement judgement = judge_amount(metric, baseline, current);
  if (judgement.verdict == Verdict::worse && 100 * worsening(metric, baseline, current) <= noisy_spread_pct)
    return {Verdict::ambiguous,
            fmt::format("repeated counts of one run already differ by {:.2f} %", noisy_spread_pct)};
  return judgement;
}

Judgement judge_latency(const Metric& metric, const Timing& baseline, const Timing& current) {
  const Judgement point = judge_amount(metric, baseline.median_ns, current.median_ns);
  if (point.verdict == Verdict::worse) return slowdown(metric.relative, baseline, current);
  if (point.verdict == Verdict::same) return {};
  const auto interval = ratio_interval(baseline, current);
  const bool certain =
      interval && interval->high < 1 - metric.relative && disturbance(baseline, current).empty();
  return {certain ? Verdict::better : Verdict::same, ""};
}

}  // namespace attnprof
