#include "measure/gpu/recount.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

OperationCount count_of(double bytes) {
  OperationCount count;
  count.operation[Quantity::hbm_read] = bytes;
  count.operation[Quantity::hbm_write] = 0;
  count.eviction[Quantity::hbm_write] = 0;
  return count;
}

struct Outcome {
  size_t counts, moves;
};

// Counts 1e8 and, every other time, `scatter` of it more; each takes `count_s`.
Outcome recounted(double scatter, double count_s = 0.01, const RecountLimits& limits = {}) {
  std::vector<OperationCount> counts = {count_of(1e8)};
  size_t moves = 0;
  double seconds = 0;
  recount(
      counts,
      {.relocate = [&] { return ++moves > 0; },
       .count = [&] { return seconds += count_s, count_of(counts.size() % 2 ? 1e8 * (1 + scatter) : 1e8); },
       .seconds = [&] { return seconds; }},
      limits);
  return {counts.size(), moves};
}

TEST(Recount, EndsEarlyWhereCountsAgree) {
  const Outcome steady = recounted(0.004);
  EXPECT_EQ(steady.counts, RecountLimits{}.fewest);
  EXPECT_EQ(steady.moves, steady.counts - 1) << "other memory for each";
}

TEST(Recount, TakesAllWhereTheyScatter) { EXPECT_EQ(recounted(0.03).counts, RecountLimits{}.most); }

TEST(Recount, KeepsToItsBudgetButNeverBelowTheFewest) {
  EXPECT_EQ(recounted(0.03, 0.1).counts, 14u) << "ends after 1.3 s";
  EXPECT_EQ(recounted(0.03, 10).counts, RecountLimits{}.fewest);
}

TEST(Recount, MayCountAPlacementTwice) {
  const Outcome twice = recounted(0.03, 0.01, {.fewest = 17, .most = 17, .a_placement = 2});
  EXPECT_EQ(twice.counts, 17u);
  EXPECT_EQ(twice.moves, 8u);
}

TEST(Recount, GoesOnWhereThereIsNoRoom) {
  std::vector<OperationCount> counts = {count_of(1e8)};
  recount(counts,
          {.relocate = [] { return false; },
           .count = [] { return count_of(1e8); },
           .seconds = [] { return 0.0; }},
          {});
  EXPECT_EQ(counts.size(), RecountLimits{}.fewest);
}

}  // namespace
}  // namespace attnprof
