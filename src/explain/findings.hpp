// What a person can do something about, as sentences with their figures.
#pragma once

#include <string>
#include <vector>

#include "explain/explanation.hpp"

namespace attnprof {

// Of a case whose every other part is filled in; worst first.
std::vector<std::string> findings(const CaseExplanation& explanation, const RowModel& model);

}  // namespace attnprof
