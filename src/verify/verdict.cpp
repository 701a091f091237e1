#include "verify/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace attnprof {
namespace {

std::string why_wrong(const Problem& problem, const CheckedOutput& output) {
  const ErrorMeter& meter = output.meter;
  if (meter.rel_err() <= output.tolerance)
    return fmt::format(
        "a row is off by more than {:g} times the {} tolerance {:.3g}, and by up to {:.3g} in an element; "
        "all checked rows together by {:.3g}",
        row_slack, to_string(problem.dtype), output.tolerance, meter.max_abs_err(), meter.rel_err());
  return fmt::format("relative error {:.3g} is above the {} tolerance {:.3g}", meter.rel_err(),
                     to_string(problem.dtype), output.tolerance);
}

// What a worse output has more of.
auto badness(const CheckedOutput& output) {
  const bool right = output.meter.right(output.tolerance);
  return std::tuple(!output.meter.finite(), !right, output.meter.rel_err() / output.tolerance);
}

}  // namespace

Verification verdict(const Problem& problem, const std::vector<CheckedOutput>& outputs) {
  const auto worst = std::ranges::max_element(outputs, {}, badness);
  Verification result;
  result.verified = worst->meter.right(worst->tolerance) ? "yes" : "no";
  // Which one, where there are several.
  const std::string of = outputs.size() > 1 ? worst->name + ": " : "";
  if (!worst->meter.finite()) {
    result.reason = of.empty() ? "the output has values that are not finite"
                               : fmt::format("{}it has values that are not finite", of);
    return result;
  }
  result.rel_err = worst->meter.rel_err();
  result.max_abs_err = worst->meter.max_abs_err();
  if (result.verified == "no") result.reason = of + why_wrong(problem, *worst);
  return result;
}

}  // namespace attnprof
