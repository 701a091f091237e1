#include "explain/speedup.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "base/units.hpp"
#include "roofline/levels.hpp"

namespace attnprof {
namespace {

struct Sums {
  double memory_ns = 0, even_ns = 0, fixed_ns = 0;
};

Sums sums_of(const TimeModel& model) {
  Sums sums;
  for (const StepTime& step : model.steps) {
    sums.memory_ns += step.memory_ns;
    sums.even_ns += step.even_ns;
    sums.fixed_ns += step.fixed_ns;
  }
  return sums;
}

// Time of the steps without their launches, were bytes and blocks' work so many times theirs.
double scaled_ns(const TimeModel& model, double memory, double work) {
  double ns = 0;
  for (const StepTime& step : model.steps) ns += std::max(step.memory_ns * memory, step.sm_ns * work);
  return ns;
}

double ratio(double above, double below) { return below > 0 ? above / below : 1; }

double at_least_one(double ns) { return std::max(ns, 1.0); }

// At every level that the row's time may go to.
bool counted(const RowModel& model) {
  return std::ranges::all_of(levels_with_rate(memory_levels()), [&](const Level& level) {
    return !level.concerns(*model.row) || level.bytes.count(*model.row);
  });
}

bool concerns_both(const Level& level, const RowModel& row, const RowModel& other) {
  return level.concerns(*row.row) && level.concerns(*other.row);
}

std::string bytes_text(const RowModel& row, const RowModel& other) {
  if (!counted(row) || !counted(other)) return "bytes by the schedule, as they were not counted";
  std::vector<std::string> parts;
  for (const Level& level : levels_with_rate(memory_levels()))
    if (concerns_both(level, row, other))
      parts.push_back(fmt::format("{} {} instead of {}", human_bytes(as_double(level.bytes.count(*row.row))),
                                  level.place, human_bytes(as_double(level.bytes.count(*other.row)))));
  return fmt::format("{}", fmt::join(parts, ", "));
}

const char* unit_text(ProductUnit unit) {
  switch (unit) {
    case ProductUnit::fma:
      return "on FMA pipes";
    case ProductUnit::mma:
      return "by mma.sync";
    case ProductUnit::wgmma:
      return "by wgmma";
    case ProductUnit::library:
      return "by a library";
    case ProductUnit::none:
      break;
  }
  return "nowhere";
}

std::string rate_text(const RowModel& row, const RowModel& other) {
  const ProductUnit a = row.time->amounts.unit, b = other.time->amounts.unit;
  if (a == b) return fmt::format("products {} in both, in other tiles and another order", unit_text(a));
  return fmt::format("products {} instead of {}", unit_text(a), unit_text(b));
}

std::string waves_text(const RowModel& row, const RowModel& other) {
  const auto idle = [](const RowModel& model) {
    const auto share = model.time->idle_share();
    return share ? fmt::format("{:.0f} %", 100 * *share) : std::string("waits for memory");
  };
  const char* overlap =
      row.time->steps.size() < other.time->steps.size() ? "; bytes beside products, not after them" : "";
  return fmt::format("SMs' room idle: {} instead of {}{}", idle(row), idle(other), overlap);
}

std::string launches_text(const RowModel& row, const RowModel& other) {
  const auto text = [](const RowModel& model) {
    return fmt::format("{} ({})", model.time->steps.size(), human_time_ns(sums_of(*model.time).fixed_ns));
  };
  return fmt::format("launches and their ramps: {} instead of {}", text(row), text(other));
}

std::vector<std::string> byte_columns(const RowModel& row, const RowModel& other) {
  const bool both_counted = counted(row) && counted(other);
  std::vector<std::string> columns;
  for (const Level& level : memory_levels()) {
    if (!concerns_both(level, row, other)) continue;
    if (both_counted)
      std::ranges::move(level.bytes.columns(), std::back_inserter(columns));
    else if (level.modelled)
      columns.emplace_back(level.modelled.name);
  }
  return columns;
}

std::vector<Factor> factors_of(const RowModel& row, const RowModel& other) {
  const TimeModel &to = *row.time, &from = *other.time;
  const Sums a = sums_of(to), b = sums_of(from);
  const double memory = ratio(a.memory_ns, b.memory_ns), work = ratio(a.even_ns, b.even_ns);
  const double times[] = {at_least_one(from.ns()), at_least_one(b.fixed_ns + scaled_ns(from, memory, 1)),
                          at_least_one(b.fixed_ns + scaled_ns(from, memory, work)),
                          at_least_one(b.fixed_ns + scaled_ns(to, 1, 1)), at_least_one(to.ns())};
  return {{"fewer_bytes", times[0] / times[1], byte_columns(row, other), bytes_text(row, other)},
          {"higher_rate",
           times[1] / times[2],
           {"executed_tensor_flops", "useful_flops", "br", "bc", "knobs_used"},
           rate_text(row, other)},
          {"occupancy_and_waves",
           times[2] / times[3],
           {"ctas", "waves", "theoretical_occupancy_pct"},
           waves_text(row, other)},
          {"fewer_launches", times[3] / times[4], {"launches"}, launches_text(row, other)}};
}

std::string why_none(const RowModel& model) {
  return fmt::format("no model of the time of {} at this problem, so nothing but the remainder",
                     model.row->identity.variant);
}

}  // namespace

SpeedupSplit split_speedup(const RowModel& row, const RowModel& other) {
  SpeedupSplit split;
  split.speedup = other.latency_ns() / row.latency_ns();
  split.remainder = split.speedup;
  if (!row.time || !other.time) {
    split.why_no_factors = why_none(row.time ? other : row);
    return split;
  }
  split.factors = factors_of(row, other);
  for (const Factor& factor : split.factors) split.remainder /= factor.factor;
  return split;
}

}  // namespace attnprof
