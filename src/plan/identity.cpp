#include "plan/identity.hpp"

#include <fmt/format.h>

#include "verify/reference.hpp"

namespace attnprof {

Identity identity_of(const Case& c) {
  const Problem& p = c.problem;
  return {.variant = std::string(c.variant->name),
          .pass = std::string(to_string(p.pass)),
          .dtype = std::string(to_string(p.dtype)),
          .mask = std::string(to_string(p.mask)),
          .batch = p.batch,
          .heads = p.heads,
          .kv_heads = p.kv_heads,
          .q_len = p.q_len,
          .kv_len = p.kv_len,
          .head_dim = p.head_dim,
          .tile = to_string(c.requested),
          .knobs = to_string(c.requested.knobs),
          .cache = std::string(to_string(c.cache))};
}

// A variant without tiles of its own resolves to 0 x 0: empty cells.
Resolved resolved_of(const Case& c) {
  const auto side = [](int rows) { return rows > 0 ? Count(rows) : std::nullopt; };
  return {.br = side(c.tile.br), .bc = side(c.tile.bc), .knobs_used = to_string(c.tile.knobs)};
}

std::string wrong_output_reason(const Verification& verification, const Problem& problem) {
  if (!verification.rel_err) return "the output has values that are not finite";
  if (*verification.rel_err <= tolerance(problem.dtype))
    return fmt::format(
        "a row is off by more than {:g} times the {} tolerance {:.3g}, and by up to {:.3g} in an element; "
        "all "
        "checked rows together by {:.3g}",
        row_slack, to_string(problem.dtype), tolerance(problem.dtype), verification.max_abs_err.value_or(0),
        *verification.rel_err);
  return fmt::format("relative error {:.3g} is above the {} tolerance {:.3g}", *verification.rel_err,
                     to_string(problem.dtype), tolerance(problem.dtype));
}

}  // namespace attnprof
