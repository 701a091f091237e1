// The seed of one case's inputs.
#pragma once

#include <cstdint>

#include "schedule/case.hpp"

namespace attnprof {

// A hash of the sweep's seed and the case: the same on every backend and in every run, another for every
// case, so that no case can pass on what an earlier one left in memory.
uint64_t case_seed(const Case& c, uint64_t sweep_seed);

}  // namespace attnprof
