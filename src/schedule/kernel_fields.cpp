#include "schedule/kernel_fields.hpp"

#include <array>
#include <utility>

namespace attnprof {

// Of the first schema as schedule/tiling.hpp gives them to every kernel.
std::string_view macro_of(const ProblemField& field) {
  constexpr auto first = std::to_array<std::pair<std::string_view, std::string_view>>(
      {{"dtype", "DTYPE"}, {"mask", "CAUSAL"}, {"head_dim", "HEAD_DIM"}});
  for (const auto& [name, macro] : first)
    if (name == field.name) return macro;
  return field.macro;
}

std::vector<const ProblemField*> kernel_fields() {
  std::vector<const ProblemField*> fields;
  for (const ProblemField& field : problem_fields())
    if (!macro_of(field).empty()) fields.push_back(&field);
  return fields;
}

}  // namespace attnprof
