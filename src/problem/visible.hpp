// Which keys a query row sees: asked by references and schedules here, by kernels of the same function
// (kernels/lib/visible_keys.h).
#pragma once

#include <cstdint>

#include "lib/visible_keys.h"
#include "problem/problem.hpp"

namespace attnprof {

// In ascending order, without overlap. `sequence`: of the batch; `row`: of its queries.
KeyRanges visible(const Problem& problem, int64_t sequence, int64_t row);

// Keys in the ranges.
inline int64_t key_count(const KeyRanges& keys) {
  int64_t count = 0;
  for (int i = 0; i < keys.count; ++i) count += keys.at[i].end - keys.at[i].first;
  return count;
}
// Behind the last of them; 0 where there are none.
inline int64_t last_end(const KeyRanges& keys) { return keys.count > 0 ? keys.at[keys.count - 1].end : 0; }

// Query rows that see at least one of the keys [first, end).
IndexRange seeing(const Problem& problem, int64_t sequence, int64_t first, int64_t end);

// Unmasked (query, key) pairs of one query head of one sequence: an exact count, key_count over all rows.
int64_t unmasked_pairs(const Problem& problem);

}  // namespace attnprof
