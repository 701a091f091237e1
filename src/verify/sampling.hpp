// Which rows of an output are checked.
#pragma once

#include <cstdint>
#include <vector>

#include "problem/operands.hpp"

namespace attnprof {

inline constexpr int64_t least_random_rows = 64;  // in all, or one a slice where there are more

struct SampledRow {
  int64_t slice;  // batch * heads + head, of the output
  int64_t row;
};

// Of every slice of the output a first or last row and at least one random row, 64 random rows in all where
// there are few slices. `full`: every row of every slice.
std::vector<SampledRow> rows_to_verify(const Operand& output, uint64_t seed, bool full);

}  // namespace attnprof
