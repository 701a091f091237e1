#include "verify/wrong_output.hpp"

#include <fmt/format.h>

#include "verify/reference.hpp"

namespace attnprof {

std::string wrong_output_reason(const Verification& verification, const Problem& problem) {
  if (!verification.rel_err) return "the output has values that are not finite";
  if (*verification.rel_err <= tolerance(problem.dtype))
    return fmt::format(
        "a row is off by more than {:g} times the {} tolerance {:.3g}, and by up to {:.3g} in an element; "
        "all checked rows together by {:.3g}",
        row_slack, to_string(problem.dtype), tolerance(problem.dtype), verification.max_abs_err.value_or(0),
        *verification.rel_err);
  return fmt::format("relative error {:.3g} is above the {} tolerance {:.3g}", *verification.rel_err,
                     to_string(problem.dtype), tolerance(problem.dtype));
}

}  // namespace attnprof
