#include "gate/metric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/quantity.hpp"
#include "base/units.hpp"

namespace attnprof {
namespace {

double amount_or_refuse(std::string_view option, std::string_view text, std::span<const UnitSuffix> units,
                        std::string_view instead) {
  if (const auto value = parse_quantity(text, units)) return *value;
  throw UsageError(fmt::format("{} '{}': give {}", option, text, instead));
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    if (colon == std::string_view::npos) return parts;
    text.remove_prefix(colon + 1);
  }
}

constexpr std::string_view metric_grammar =
    "give COLUMN:lower|higher:RELATIVE%:FLOOR, such as seconds:lower:1%:0.001";

}  // namespace

std::string_view to_string(Category category) {
  constexpr std::array names = {"latency", "bytes", "flops", "build", "other"};
  return names[static_cast<size_t>(category)];
}

std::vector<Metric> default_metrics() {
  constexpr Direction lower = Direction::lower;
  return {{"latency_median_ns", Category::latency, lower, 0.05, default_latency_floor_ns(0.05)},
          {"hbm_bytes", Category::bytes, lower, 0.01, 512 * 1024},
          {"sm_bytes", Category::bytes, lower, 0.005, 0},
          {"executed_tensor_flops", Category::flops, lower, 0.001, 0},
          {.column = "registers", .category = Category::build, .direction = lower, .by_blocks = true},
          {"spill_bytes", Category::build, lower, 0, 0},
          {"stack_bytes", Category::build, lower, 0, 0},
          {.column = "local_loads", .category = Category::build, .direction = lower, .optional = true},
          {.column = "local_stores", .category = Category::build, .direction = lower, .optional = true},
          {.column = "smem_bytes", .category = Category::build, .direction = lower, .by_blocks = true},
          {.column = std::string(ctas_per_sm_column),
           .category = Category::build,
           .direction = Direction::higher,
           .optional = true}};
}

std::vector<Metric> build_metrics(const std::vector<Metric>& metrics, bool of_resources) {
  // A compiler says what it spilled, machine code where it loads and stores.
  const auto has = [of_resources](const Metric& metric) {
    if (metric.category != Category::build) return false;
    return of_resources ? metric.column != "spill_bytes" : !metric.column.starts_with("local_");
  };
  std::vector<Metric> build;
  std::ranges::copy_if(metrics, std::back_inserter(build), has);
  return build;
}

std::string human_name(const Metric& metric) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> names = {{
      {"latency_median_ns", "latency"},
      {"hbm_bytes", "HBM bytes"},
      {"sm_bytes", "SM bytes"},
      {"executed_tensor_flops", "executed FLOPs"},
      {"registers", "registers"},
      {"spill_bytes", "spills"},
      {"stack_bytes", "stack bytes"},
      {"local_loads", "local loads"},
      {"local_stores", "local stores"},
      {"smem_bytes", "shared memory"},
      {ctas_per_sm_column, "blocks an SM"},
  }};
  const auto found =
      std::ranges::find(names, metric.column, &std::pair<std::string_view, std::string_view>::first);
  return std::string(metric.category == Category::other || found == names.end() ? metric.column
                                                                                : found->second);
}

std::string human_value(const Metric& metric, double value) {
  if (metric.category == Category::other) return fmt::format("{:.6g}", value);
  if (metric.column.ends_with("_ns")) return human_time_ns(value);
  if (metric.category == Category::bytes) return human_bytes(value);
  if (metric.column.ends_with("_flops")) return human_flops(value);
  return fmt::format("{:.0f}", value);
}

std::string human_allowance(const Metric& metric) {
  const std::string relative = fmt::format("{:.3g} %", 100 * metric.relative);
  if (metric.floor == 0) return "more than " + relative;
  if (metric.relative == 0) return "more than " + human_value(metric, metric.floor);
  return fmt::format("more than {} and {}", relative, human_value(metric, metric.floor));
}

double parse_relative(std::string_view option, std::string_view text) {
  constexpr std::array units = {UnitSuffix{"%", 0.01}};
  const double value = amount_or_refuse(option, text, units, "a threshold from 0% to 100%, such as 1%");
  if (value <= 1) return value;
  throw UsageError(fmt::format("{} '{}': give a threshold from 0% to 100%, such as 1%", option, text));
}

double parse_floor_bytes(std::string_view option, std::string_view text) {
  constexpr std::array units = {
      UnitSuffix{"", 1},     UnitSuffix{"B", 1},      UnitSuffix{"kB", 1e3},      UnitSuffix{"MB", 1e6},
      UnitSuffix{"GB", 1e9}, UnitSuffix{"KiB", 1024}, UnitSuffix{"MiB", 1 << 20}, UnitSuffix{"GiB", 1 << 30}};
  return amount_or_refuse(option, text, units, "a threshold of 0 bytes or more, such as 512KiB or 1MB");
}

double parse_floor_ns(std::string_view option, std::string_view text) {
  constexpr std::array units = {UnitSuffix{"ns", 1}, UnitSuffix{"us", 1e3}, UnitSuffix{"ms", 1e6},
                                UnitSuffix{"s", 1e9}};
  return amount_or_refuse(option, text, units,
                          "a threshold of 0 or more with its unit ns, us, ms or s, such as 2us");
}

double default_latency_floor_ns(double relative) {
  constexpr double most_ns = 2000, from = 0.05;
  return most_ns * std::min(1.0, relative / from);
}

double parse_floor_number(std::string_view option, std::string_view text) {
  constexpr std::array units = {UnitSuffix{"", 1}};
  return amount_or_refuse(option, text, units, "a threshold of 0 or more");
}

Metric parse_metric(std::string_view text) {
  const std::string option = "--metric";
  const auto parts = parts_of(text);
  if (parts.size() != 4 || parts[0].empty() || (parts[1] != "lower" && parts[1] != "higher"))
    throw UsageError(fmt::format("{} '{}': {}", option, text, metric_grammar));
  return {.column = std::string(parts[0]),
          .category = Category::other,
          .direction = parts[1] == "lower" ? Direction::lower : Direction::higher,
          .relative = parse_relative(option, parts[2]),
          .floor = parse_floor_number(option, parts[3])};
}

}  // namespace attnprof
