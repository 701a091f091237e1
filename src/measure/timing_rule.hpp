// How many samples a time is made of: what every case is timed by, and what `attnprof list --rules` tells
// others who time beside it.
#pragma once

#include <cstddef>

namespace attnprof {

// Operands move and the stream changes after every few samples: a kernel's time differs by 1 or 2 % from one
// placement in memory to another, a launch's by up to half a microsecond from one stream to another, and a
// process that timed one of each would differ from the next by as much.
inline constexpr size_t samples_a_placement = 4;
inline constexpr size_t most_placements = 8;
// All placements once; an interval of fewer is itself a matter of luck.
inline constexpr int samples_before_stopping = samples_a_placement * most_placements;
inline constexpr int largest_batch = 256;  // samples between two looks at what is reached
inline constexpr double warm_up_s = 0.02;  // clocks rise, caches of instructions and addresses fill
inline constexpr int warm_up_runs = 3;

}  // namespace attnprof
