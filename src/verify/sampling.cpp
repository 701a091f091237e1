#include "verify/sampling.hpp"

#include <algorithm>
#include <random>

namespace attnprof {
namespace {

// The distributions of the standard are each library's own; a seed is to mean the same rows in every build.
int64_t any_below(int64_t end, std::mt19937_64& random) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<int64_t>(Wide{random()} * static_cast<Wide>(end) >> 64);
}

}  // namespace

std::vector<SampledRow> rows_to_verify(const Operand& output, uint64_t seed, bool full) {
  std::vector<SampledRow> rows;
  const int64_t slices = output.slices();
  if (full) {
    for (int64_t slice = 0; slice < slices; ++slice)
      for (int64_t row = 0; row < output.rows; ++row) rows.push_back({slice, row});
    return rows;
  }
  std::mt19937_64 random(seed);
  const int64_t random_rows = std::max<int64_t>(1, least_random_rows / slices);
  for (int64_t slice = 0; slice < slices; ++slice) {
    // First and last rows hold the edges of masks and ragged tiles; random rows the rest.
    rows.push_back({slice, slice % 2 == 0 ? output.rows - 1 : 0});
    for (int64_t i = 0; i < random_rows; ++i) rows.push_back({slice, any_below(output.rows, random)});
  }
  if (slices == 1) rows.push_back({0, 0});
  return rows;
}

}  // namespace attnprof
