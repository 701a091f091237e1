// Measured rows of one contest: who is first, by how much, and what in the columns goes with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "row/row.hpp"

namespace attnprof {

// How much slower `other` is than `best`, in percent of best's latency. The interval is what the two medians'
// 95 % intervals leave open; where samples are too few for one, shortest sample to 90th percentile. A model's
// latency has no interval.
struct Margin {
  double pct = 0;
  std::optional<double> low_pct, high_pct;
  bool within_noise() const { return low_pct && *low_pct <= 0; }
};
Margin margin(const Row& best, const Row& other);

// Rows that are ok, fastest first, as positions in `rows`.
std::vector<size_t> by_latency(const std::vector<Row>& rows);

// Of rows measured quickly, the positions worth measuring precisely: the two fastest, whatever the fastest
// cannot be told from, at most `most`; fastest first.
std::vector<size_t> finalists(const std::vector<Row>& rows, size_t most = 8);

// What speaks for `best` against `other` in their columns: "SM bytes 537 MB against 805 MB; tensor pipe 61 %
// against 54 %". Says so where nothing does.
std::string why(const Row& best, const Row& other);

}  // namespace attnprof
