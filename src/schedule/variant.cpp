#include "schedule/variant.hpp"

#include <algorithm>

namespace attnprof {

const Knob* find_knob(const Variant& variant, std::string_view name) {
  const auto found = std::ranges::find(variant.knobs, name, &Knob::name);
  return found == variant.knobs.end() ? nullptr : &*found;
}

std::vector<Operand> case_operands(const Variant& variant, const Problem& problem, const Tile& tile) {
  std::vector<Operand> all = operands(problem);
  std::vector<Operand> workspace = variant.workspace(problem, tile);
  all.insert(all.end(), workspace.begin(), workspace.end());
  return all;
}

}  // namespace attnprof
