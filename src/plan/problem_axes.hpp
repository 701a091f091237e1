// The problems that a sweep's axes make.
#pragma once

#include <vector>

#include "plan/sweep.hpp"

namespace attnprof {

// Every combination. Throws UsageError for what contradicts itself (tokens no multiple of N, heads no
// multiple of kv_heads, ...).
std::vector<Problem> problems_of(const SweepAxes& axes);

// How many they are, without making them.
double count_problems(const SweepAxes& axes);

}  // namespace attnprof
