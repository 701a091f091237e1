#include "verify/sampling.hpp"

#include <algorithm>
#include <random>

namespace attnprof {

std::vector<SampledRow> rows_to_verify(const Operand& output, uint64_t seed, bool full) {
  std::vector<SampledRow> rows;
  const int64_t slices = output.slices();
  if (full) {
    for (int64_t slice = 0; slice < slices; ++slice)
      for (int64_t row = 0; row < output.rows; ++row) rows.push_back({slice, row});
    return rows;
  }
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int64_t> any_row(0, output.rows - 1);
  const int64_t random_rows = std::max<int64_t>(1, least_random_rows / slices);
  for (int64_t slice = 0; slice < slices; ++slice) {
    // First and last rows hold the edges of masks and ragged tiles; random rows the rest.
    rows.push_back({slice, slice % 2 == 0 ? output.rows - 1 : 0});
    for (int64_t i = 0; i < random_rows; ++i) rows.push_back({slice, any_row(random)});
  }
  if (slices == 1) rows.push_back({0, 0});
  return rows;
}

}  // namespace attnprof
