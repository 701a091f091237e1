// Which counts a kernel's next launch is asked for. A launch cannot be repeated, so it is counted in one
// pass, and what a row needs does not fit one: the launches of a kernel take turns at the sets.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <vector>

#include "measure/gpu/launch_counts.hpp"
#include "problem/problem.hpp"

namespace attnprof {

// What a set of counters holds beyond what all sets hold.
struct CountSet {
  bool others = false;          // anything but tensor FLOPs
  std::optional<Dtype> tensor;  // tensor FLOPs of this operand type
  size_t passes = 1;            // successive launches that one count takes
};

// Of one kernel in one launch configuration. `sets`: never empty, and the same each time.
class CountTurns {
 public:
  // The set of the next launch: every set once, then `enabled` as often again as the one that was counted
  // least, because another set than the profiler is enabled for costs more than the count itself.
  size_t next(std::span<const CountSet> sets, std::optional<size_t> enabled = std::nullopt) const;
  // That it was counted, with these values.
  void counted(std::span<const CountSet> sets, size_t set, const LaunchCounts& counts);
  // That its launches do not come soon enough after each other: it is not asked for again.
  void give_up(size_t set);

 private:
  bool wanted(std::span<const CountSet> sets, size_t set) const;
  int times(size_t set) const { return set < times_.size() ? times_[set] : 0; }

  std::vector<int> times_;  // that each set was counted
  std::set<size_t> given_up_;
  bool no_tensor_work_ = false;
  std::optional<Dtype> tensor_;  // the operand type of its products, once seen
};

}  // namespace attnprof
