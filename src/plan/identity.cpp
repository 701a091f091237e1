#include "plan/identity.hpp"

namespace attnprof {

Identity identity_of(const Case& c) {
  return {.variant = std::string(c.variant->name),
          .problem = ProblemCells(c.problem),
          .tile = to_string(c.requested),
          .knobs = to_string(c.requested.knobs),
          .cache = std::string(to_string(c.cache))};
}

// A variant without tiles of its own resolves to 0 x 0: empty cells.
Resolved resolved_of(const Case& c) {
  const auto side = [](int rows) { return rows > 0 ? Count(rows) : std::nullopt; };
  return {.br = side(c.tile.br), .bc = side(c.tile.bc), .knobs_used = to_string(c.tile.knobs)};
}

}  // namespace attnprof
