// From the errors of all outputs of a pass to one verdict, and why an output is wrong, for people.
#pragma once

#include <string>
#include <vector>

#include "problem/passes.hpp"
#include "row/row.hpp"
#include "verify/error_meter.hpp"

namespace attnprof {

struct CheckedOutput {
  std::string name;  // of its operand
  double tolerance;
  ErrorMeter meter;
};

// verified=no where an output is not right (ErrorMeter::right), with the reason as a sentence. Errors are
// those of the output that is furthest from its tolerance; none where an output has elements that are not
// finite.
Verification verdict(const Problem& problem, const std::vector<CheckedOutput>& outputs);

}  // namespace attnprof
