// Numbers with a unit, as people give them: 0.5%, 20us, 512KiB.
#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace attnprof {

struct UnitSuffix {
  std::string_view name;
  double factor;
};

// A decimal number of 0 or more with one of the units after it, times the unit's factor; nothing when it is
// none.
std::optional<double> parse_quantity(std::string_view text, std::span<const UnitSuffix> units);

}  // namespace attnprof
