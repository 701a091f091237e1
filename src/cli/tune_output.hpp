// What `tune` found, on standard output.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/format.hpp"
#include "row/row.hpp"
#include "tune/contest.hpp"

namespace attnprof {

// One contest after its candidates were measured.
struct ContestResult {
  Case by_default;
  size_t candidates = 0;  // the default among them
  size_t measured = 0;    // what was left of them
  std::vector<Row> rows;  // of the last pass
};

// For people a table a contest, best beside runner-up and default, with a sentence on the margin and one on
// what goes with it; else one line for each of the three.
std::string format_results(const std::vector<ContestResult>& results, Format format);

}  // namespace attnprof
