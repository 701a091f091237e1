// Which counts a kernel's next launch is asked for. A launch cannot be repeated, so it is counted in one
// pass, and what a row needs does not fit one: the launches of a kernel take turns at the sets.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "plan/problem.hpp"
#include "trace/launch_record.hpp"

namespace attnprof {

// What a set of counters holds beyond what all sets hold.
struct CountSet {
  bool others = false;          // anything but tensor FLOPs
  std::optional<Dtype> tensor;  // tensor FLOPs of this operand type
  size_t passes = 1;            // successive launches that one count takes
};

// Of one kernel in one launch configuration.
class CountTurns {
 public:
  // The set of the next launch. `sets`: never empty, and the same each time.
  size_t next(std::span<const CountSet> sets) const;
  // That it was counted, with these values; or that it could not be.
  void counted(std::span<const CountSet> sets, size_t set, const LaunchCounts& counts);
  void failed(size_t set) { position_ = set + 1; }

 private:
  bool wanted(const CountSet& set) const;

  size_t position_ = 0;
  bool no_tensor_work_ = false;
  std::optional<Dtype> tensor_;  // the operand type of its products, once seen
};

}  // namespace attnprof
