// Why an output is wrong, for people.
#pragma once

#include <string>

#include "problem/problem.hpp"
#include "row/row.hpp"

namespace attnprof {

// The reason of an `incorrect` row, of a verdict that says verified=no.
std::string wrong_output_reason(const Verification& verification, const Problem& problem);

}  // namespace attnprof
