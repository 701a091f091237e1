#include "report/column_unit.hpp"

#include <cmath>
#include <span>
#include <string_view>

#include "base/units.hpp"

namespace attnprof {
namespace {

constexpr std::string_view bytes[] = {"B", "kB", "MB", "GB", "TB", "PB"};
constexpr std::string_view times[] = {"ns", "us", "ms", "s"};
constexpr std::string_view flops[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};

ColumnUnit scaled(double largest, std::span<const std::string_view> names) {
  ColumnUnit unit{1, std::string(names.front())};
  for (const std::string_view name : names.subspan(1)) {
    if (std::abs(largest) / unit.size < 9999.5) break;
    unit = {unit.size * 1000, std::string(name)};
  }
  return unit;
}

}  // namespace

ColumnUnit column_unit(const Column& column, double largest) {
  const std::string_view name = column.name;
  if (name.ends_with("_ns")) return scaled(largest, times);
  if (name.ends_with("_bytes")) return scaled(largest, bytes);
  if (name.ends_with("_flops")) return scaled(largest, flops);
  if (name.ends_with("_tflops_per_s")) return {1, "TFLOP/s"};
  if (name.ends_with("_pct")) return {1, "%"};
  if (name.ends_with("_mhz")) return {1, "MHz"};
  return {};
}

std::string in_unit(double value, const ColumnUnit& unit) {
  return value == 0 ? "0" : human_number(value / unit.size);
}

}  // namespace attnprof
