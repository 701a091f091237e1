#include "base/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace attnprof {

std::optional<double> parse_quantity(std::string_view text, std::span<const UnitSuffix> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !std::isfinite(value) || value < 0) return std::nullopt;
  const std::string_view unit = text.substr(static_cast<size_t>(end - text.data()));
  const auto found = std::ranges::find(units, unit, &UnitSuffix::name);
  if (found == units.end() || !std::isfinite(value * found->factor)) return std::nullopt;
  return value * found->factor;
}

}  // namespace attnprof
