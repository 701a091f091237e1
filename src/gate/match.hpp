// Which row is held against which, and whether it may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gate/gate.hpp"

namespace attnprof {

// Rows by identity. `run`: `last` or a run's id takes the rows of that run; `newest` the last row of every
// identity, whatever its run, which is what a baseline holds. Throws UsageError naming both lines when one
// run has an identity twice, or when the file has no such run.
struct Selection {
  std::unordered_map<std::string_view, uint32_t> by_key;
  std::vector<uint32_t> rows;  // in file order
};
Selection select_rows(const Table& table, std::string_view run);

// Throws UsageError for a name that no fact has, with the one that may be meant and all there are.
void check_allowed(const std::set<std::string>& allowed, const GateInput& baseline, const GateInput& current);
// Of rows of the current file those of the baseline that they are held against: of the same identity; and of
// kernels that are built for a default tile, in order, those whose identity differs by tile and macros alone,
// where both files have as many left.
std::unordered_map<uint32_t, uint32_t> matching_rows(const Selection& baseline_rows,
                                                     const Selection& current_rows, const Table& baseline,
                                                     const Table& current);

// Sets `time` and `counts` of every pair and returns warnings. Throws EnvironmentError naming the fields that
// differ, or the meta file that would say.
std::vector<std::string> check_comparable(const GateInput& baseline, const GateInput& current,
                                          const GateOptions& options, std::vector<RowPair>& pairs);

}  // namespace attnprof
