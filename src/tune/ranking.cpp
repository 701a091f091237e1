#include "tune/ranking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/table.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

// Clocks move between the first candidate and the last: what is this close after a quick pass is no loser
// yet.
constexpr double quick_pass_slack = 1.02;
constexpr double worth_saying = 0.02;  // relative difference of two columns

struct Interval {
  double low, high;
};

Interval interval_of(const Latency& latency) {
  const double median = latency.median_ns.value_or(0);
  if (latency.ci95_low_ns && latency.ci95_high_ns) return {*latency.ci95_low_ns, *latency.ci95_high_ns};
  return {latency.min_ns.value_or(median), latency.p90_ns.value_or(median)};
}

double median_of(const Row& row) { return row.latency.median_ns.value_or(0); }

struct Cause {
  const char* column;
  const char* title;
  bool more_is_better;
};
constexpr Cause causes[] = {
    {"spill_bytes", "spills", false},
    {"local_bytes", "local memory", false},
    {"hbm_bytes", "HBM", false},
    {"sm_bytes", "SM", false},
    {"executed_tensor_flops", "executed tensor FLOPs", false},
    {"tensor_pipe_pct", "tensor pipe", true},
    {"achieved_occupancy_pct", "achieved occupancy", true},
    {"theoretical_occupancy_pct", "possible occupancy", true},
    {"registers", "registers", false},
};

std::optional<double> number(const Column& column, const Row& row) {
  const Field field = column.field(const_cast<Row&>(row));
  if (const auto* count = std::get_if<Count*>(&field))
    return **count ? std::optional(static_cast<double>(***count)) : std::nullopt;
  if (const auto* real = std::get_if<Real*>(&field)) return **real;
  return std::nullopt;
}

// 2.1 waves run as long as 3: the share of the last wave's places that stay empty.
std::optional<double> idle_tail(const Row& row) {
  const Real waves = row.build.waves;
  if (!waves || *waves <= 0) return std::nullopt;
  return 1 - *waves / std::ceil(*waves);
}

}  // namespace

Margin margin(const Row& best, const Row& other) {
  const double base = median_of(best);
  if (base <= 0) return {};
  Margin result{.pct = 100 * (median_of(other) / base - 1), .low_pct = {}, .high_pct = {}};
  if (best.latency.latency_source == "model") return result;
  const Interval a = interval_of(best.latency), b = interval_of(other.latency);
  if (a.low <= 0 || a.high <= 0) return result;
  result.low_pct = 100 * (b.low / a.high - 1);
  result.high_pct = 100 * (b.high / a.low - 1);
  return result;
}

std::vector<size_t> by_latency(const std::vector<Row>& rows) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i].status.disposition == "ok" && rows[i].latency.median_ns) order.push_back(i);
  std::ranges::stable_sort(order, {}, [&](size_t i) { return median_of(rows[i]); });
  return order;
}

std::vector<size_t> finalists(const std::vector<Row>& rows, size_t most) {
  std::vector<size_t> order = by_latency(rows);
  if (order.empty()) return order;
  const double bar = interval_of(rows[order.front()].latency).high * quick_pass_slack;
  size_t kept = std::min<size_t>(order.size(), 2);
  while (kept < order.size() && kept < most && interval_of(rows[order[kept]].latency).low <= bar) ++kept;
  order.resize(kept);
  return order;
}

std::string why(const Row& best, const Row& other) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
  for (const Cause& cause : causes) {
    const Column& column = *find_column(cause.column);
    const auto a = number(column, best), b = number(column, other);
    if (!a || !b) continue;
    const double gain = cause.more_is_better ? *a - *b : *b - *a;
    if (gain > worth_saying * std::max(std::abs(*a), std::abs(*b)))
      add(fmt::format("{} {} against {}", cause.title, human_cell(column, best), human_cell(column, other)));
  }
  const auto a = idle_tail(best), b = idle_tail(other);
  if (a && b && *b - *a > worth_saying)
    add(fmt::format("{:.0f} % of the waves' places idle against {:.0f} %", 100 * *a, 100 * *b));
  return text.empty() ? "no column of the row speaks for it" : text;
}

}  // namespace attnprof
