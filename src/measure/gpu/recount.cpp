#include "measure/gpu/recount.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

namespace attnprof {

void recount(std::vector<OperationCount>& counts, const Recount& how, const RecountLimits& limits) {
  const auto agree = [&] { return hbm_spread(counts).value_or(1) <= limits.steady; };
  while (counts.size() < limits.most) {
    if (counts.size() >= limits.fewest && (how.seconds() > limits.budget_s || agree())) return;
    if ((counts.size() - 1) % limits.a_placement == 0) how.relocate();  // without room: again where they are
    counts.push_back(how.count());
  }
}

CountLog::CountLog() {
  if (const char* path = std::getenv("ATTNPROF_COUNT_LOG")) path_ = path;
}

RecountLimits CountLog::limits() const {
  if (path_.empty()) return {};
  return {.fewest = 17, .most = 17, .a_placement = 2};
}

// The first count is of another configuration, and so belongs to no placement.
void CountLog::add(const std::vector<OperationCount>& counts, const RecountLimits& limits) {
  ++cases_;
  if (path_.empty()) return;
  std::ofstream file(path_, std::ios::app);
  for (size_t i = 0; i < counts.size(); ++i)
    file << fmt::format("{},{},{:.0f}\n", cases_, i == 0 ? 0 : (i - 1) / limits.a_placement + 1,
                        hbm_bytes(counts[i]).value_or(0));
}

}  // namespace attnprof
