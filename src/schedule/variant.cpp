#include "schedule/variant.hpp"

#include <algorithm>
#include <utility>

namespace attnprof {

const Knob* find_knob(const Variant& variant, std::string_view name) {
  const auto found = std::ranges::find(variant.knobs, name, &Knob::name);
  return found == variant.knobs.end() ? nullptr : &*found;
}

OperandList case_operands(const Variant& variant, const Problem& problem, const Tile& tile) {
  OperandList all = operands(problem);
  for (Operand& operand : variant.workspace(problem, tile)) all.add_workspace(std::move(operand));
  return all;
}

}  // namespace attnprof
