// From counter values to a row's measured group.
#pragma once

#include <vector>

#include "measure/gpu/metric_plan.hpp"
#include "roofline/row.hpp"

namespace attnprof {

// One count: the operation's range, and the range of the eviction read that follows it.
struct OperationCount {
  CounterValues operation;
  CounterValues eviction;
};

// Bytes the operation wrote, settled: what reached device memory in its range, and what the eviction read
// then pushed out of L2 beyond `clean_eviction_write`, what that read writes when nothing is dirty. Never
// below the first: the rest is counter noise of some kilobytes then. Nothing where the chip has no such
// counter.
std::optional<double> settled_write(const OperationCount& count, double clean_eviction_write);

// Medians over `counts` (at least one) for HBM, with their spread when there are several; everything else
// from the first count. Flags noisy_bytes when HBM bytes vary by more than 2 % and 1 MB.
Counters counted_row(const std::vector<OperationCount>& counts, double clean_eviction_write, Status& status);

}  // namespace attnprof
