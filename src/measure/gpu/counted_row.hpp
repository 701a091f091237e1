// From counter values to a row's measured group.
#pragma once

#include <vector>

#include "measure/gpu/metric_plan.hpp"
#include "row/row.hpp"

namespace attnprof {

struct Settling {
  double clean_eviction_write = 0;  // what the eviction read writes when nothing is dirty
  bool dirty_before = false;        // the range began with the dirty lines that the same operation had left
};

// One count: the operation's range, and the range of the eviction read that follows it.
struct OperationCount {
  CounterValues operation;
  CounterValues eviction;
  Settling settling;
};

// Bytes the operation wrote, settled: what reached device memory in its range, and what the eviction read
// then pushed out of L2 beyond what it writes anyway. Never below the first: the rest is counter noise of
// some kilobytes then. With dirty lines before, as many as after: either they were pushed out in the range,
// in place of the operation's own, and the range alone has the right number; or all was written over and none
// was, and the eviction has it; so it is the larger of the two. Nothing where the chip has no such counter.
std::optional<double> settled_write(const OperationCount& count);
// What was read and written, settled.
std::optional<double> hbm_bytes(const OperationCount& count);
// (max - min) / median of them, nothing below two counts that have them.
std::optional<double> hbm_spread(const std::vector<OperationCount>& counts);

// Medians over `counts` (at least one) for HBM, with their number and spread; everything else from the first
// count, and further ones may lack it. Flags noisy_bytes when HBM bytes vary by more than 2 % and 1 MB.
Counters counted_row(const std::vector<OperationCount>& counts, Status& status);

}  // namespace attnprof
