#include "base/units.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>
#include <string_view>

namespace attnprof {
namespace {

// Three significant digits without an exponent, for values of 0 to 9999.
std::string three_digits(double value) {
  const double size = std::abs(value);
  return fmt::format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

std::string scaled(double value, double base, std::span<const std::string_view> units) {
  size_t unit = 0;
  while (std::abs(value) >= 999.5 && unit + 1 < units.size()) value /= base, ++unit;
  return fmt::format(
      "{} {}", unit == 0 && value == std::floor(value) ? fmt::format("{:.0f}", value) : three_digits(value),
      units[unit]);
}

}  // namespace

std::string human_bytes(double bytes) {
  constexpr std::array<std::string_view, 6> units = {"B", "kB", "MB", "GB", "TB", "PB"};
  return scaled(bytes, 1000, units);
}

std::string human_flops(double flops) {
  constexpr std::array<std::string_view, 7> units = {"FLOP",  "kFLOP", "MFLOP", "GFLOP",
                                                     "TFLOP", "PFLOP", "EFLOP"};
  return scaled(flops, 1000, units);
}

std::string human_time_ns(double ns) {
  constexpr std::array<std::string_view, 4> units = {"ns", "us", "ms", "s"};
  return scaled(ns, 1000, units);
}

std::string human_number(double value) {
  return std::abs(value) < 9999.5 && (value == 0 || std::abs(value) >= 0.01) ? three_digits(value)
                                                                             : fmt::format("{:.3g}", value);
}

}  // namespace attnprof
