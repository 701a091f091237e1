// How often HBM bytes are counted where one count says little.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "measure/gpu/counted_row.hpp"

namespace attnprof {

// A count of HBM alone takes 13 ms on an H200 with its one pass; the profiler's change of configuration
// before it, and back before the next case, some 0.1 s each.
struct RecountLimits {
  size_t fewest = 5;       // the first one included
  size_t most = 24;        // each in a placement of its own: counts of one placement are no independent ones
  double steady = 0.005;   // no more once the fewest agree within this share
  double budget_s = 1.2;   // nor once this much was spent, the change of configuration included
  size_t a_placement = 1;  // counts between two moves of the operands
};

struct Recount {
  std::function<bool()> relocate;         // the operands to another placement; false where there is but one
  std::function<OperationCount()> count;  // HBM bytes alone
  std::function<double()> seconds;        // since recounting began
};

// Adds to `counts`, which has the first. The operands move before each: what L2 keeps of them depends on
// where they lie, and so would differ in another process.
void recount(std::vector<OperationCount>& counts, const Recount& how, const RecountLimits& limits);

// One line "case,placement,bytes" a count, appended to the file that the environment variable
// ATTNPROF_COUNT_LOG names; scripts/evidence/hbm_scatter.py reads it. With a log, limits are those of an
// experiment: two counts a placement and no early end.
class CountLog {
 public:
  CountLog();
  RecountLimits limits() const;
  void add(const std::vector<OperationCount>& counts, const RecountLimits& limits);

 private:
  std::string path_;  // empty: no log
  int cases_ = 0;
};

}  // namespace attnprof
