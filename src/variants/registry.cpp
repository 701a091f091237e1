#include <algorithm>
#include <array>

#include "variants/variant.hpp"

namespace attnprof {

extern const Variant naive_variant;
extern const Variant standard_variant;
extern const Variant flash1_variant;
extern const Variant flash2_variant;
extern const Variant flash3_variant;

std::span<const Variant* const> all_variants() {
  static constexpr std::array variants = {
      &naive_variant, &standard_variant, &flash1_variant, &flash2_variant, &flash3_variant,
  };
  return variants;
}

const Variant* find_variant(std::string_view name) {
  const auto variants = all_variants();
  const auto found = std::ranges::find(variants, name, &Variant::name);
  return found == variants.end() ? nullptr : *found;
}

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
