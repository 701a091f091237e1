// How many random query rows are checked beside the edges.
#pragma once

#include <cstdint>

namespace attnprof {

inline constexpr int64_t least_random_rows = 64;  // in all, or one a slice where there are more

}  // namespace attnprof
