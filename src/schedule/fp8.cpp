#include "schedule/fp8.hpp"

#include <fmt/format.h>

namespace attnprof {

std::optional<std::string> fp8_unsupported(std::string_view variant, std::string_view takes,
                                           const Problem& problem) {
  if (problem.dtype != Dtype::fp8) return std::nullopt;
  return fmt::format("{} takes {}, not fp8; flash3 does", variant, takes);
}

float read_scale(const Problem& problem, OperandId scale_operand, int64_t slice, TileMachine& machine) {
  if (problem.dtype != Dtype::fp8) return 1;
  const TileValues scale = machine.read({scale_operand, slice, 0, 1, 0, 1});
  return machine.numeric() ? scale.at(0, 0) : 1;
}

TileValues dequantised(TileValues elements, float scale) {
  if (scale != 1)
    for (float& value : elements.values) value *= scale;
  return elements;
}

}  // namespace attnprof
