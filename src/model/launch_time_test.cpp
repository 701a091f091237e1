#include "model/launch_time.hpp"

#include <gtest/gtest.h>

#include <random>

namespace attnprof {
namespace {

// Alone 10 ns and 5 for each that shares its SM: 15, 20, 25.
constexpr BlockTime block{10, 5};

TEST(LaunchTime, OneBlockAndNone) {
  const LaunchTime one = launch_time({block}, 1, 2, 4);
  EXPECT_DOUBLE_EQ(one.ns, 15);
  EXPECT_DOUBLE_EQ(one.even_ns, 20.0 / 8) << "two an SM, all of four SMs";
  EXPECT_DOUBLE_EQ(launch_time({}, 5, 2, 4).ns, 0);
  EXPECT_DOUBLE_EQ(launch_time({block}, 0, 2, 4).ns, 0);
}

TEST(LaunchTime, TheFirstWaveIsSpreadOverAllSms) {
  EXPECT_DOUBLE_EQ(launch_time({block}, 4, 2, 4).ns, 15);
  EXPECT_DOUBLE_EQ(launch_time({block}, 5, 2, 4).ns, 20) << "one SM has two";
  EXPECT_DOUBLE_EQ(launch_time({block}, 8, 2, 4).ns, 20);
}

TEST(LaunchTime, WavesAreWhole) {
  EXPECT_DOUBLE_EQ(launch_time({block}, 9, 2, 4).ns, 20 + 15) << "the ninth has an SM for itself";
  EXPECT_DOUBLE_EQ(launch_time({block}, 10, 2, 4).ns, 40) << "the SM that is free first takes both";
  EXPECT_DOUBLE_EQ(launch_time({block}, 16, 2, 4).ns, 40);
  EXPECT_DOUBLE_EQ(launch_time({block}, 16, 2, 4).even_ns, 40) << "nothing is idle";
  EXPECT_DOUBLE_EQ(launch_time({block}, 12, 2, 4).even_ns, 30);
}

TEST(LaunchTime, BlocksOfUnequalLength) {
  const BlockTime longer{30, 0}, shorter{10, 0};
  EXPECT_DOUBLE_EQ(launch_time({longer, shorter, shorter, shorter}, 1, 1, 2).ns, 30)
      << "the other SM does the three short ones meanwhile";
  EXPECT_DOUBLE_EQ(launch_time({shorter, shorter, shorter, longer}, 1, 1, 2).ns, 40)
      << "the long one last: it starts when the second pair ends its first";
}

TEST(LaunchTime, ANeighbourThatEndsSpeedsABlockUp) {
  // Both on one SM: the short one runs 2 x 10 beside the long one, which has then done half of its 40 ns.
  EXPECT_DOUBLE_EQ(launch_time({{0, 20}, {0, 10}}, 1, 2, 1).ns, 20 + 10);
}

// Blocks that differ a little must take about as long as blocks that do not.
TEST(LaunchTime, TheTwoWaysAgree) {
  for (int64_t count : {3, 8, 9, 40}) {
    std::vector<BlockTime> near(static_cast<size_t>(count), block);
    near.front().alone += 1e-6;
    EXPECT_NEAR(launch_time(near, 1, 2, 4).ns, launch_time({block}, count, 2, 4).ns, 1e-3) << count;
  }
}

TEST(LaunchTime, IsNeverBelowTheEvenTime) {
  std::mt19937 rng(1);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<BlockTime> blocks(1 + rng() % 50);
    for (BlockTime& each : blocks) each = {1.0 + rng() % 20, static_cast<double>(rng() % 10)};
    const LaunchTime time =
        launch_time(blocks, 1 + rng() % 3, 1 + static_cast<int>(rng() % 4), 1 + static_cast<int>(rng() % 8));
    EXPECT_LE(time.even_ns, time.ns);
    EXPECT_GT(time.even_ns, 0);
  }
}

TEST(LaunchTime, BlocksThatTakeNoTimeEnd) {
  EXPECT_DOUBLE_EQ(launch_time({{0, 0}, block}, 8, 2, 4).ns, launch_time({block, {0, 0}}, 8, 2, 4).ns);
  EXPECT_GT(launch_time({{0, 0}, block}, 8, 2, 4).ns, 0);
}

TEST(BlockTime, FewerWarpsTakeLongerForTheSameWork) {
  const BlockWork work{.rounds = 2, .work_ns = 100};
  const BlockTime four = block_time(work, 10, 4), two = block_time(work, 10, 2);
  EXPECT_GT(four.alone, 20) << "two rounds, and its own work";
  EXPECT_DOUBLE_EQ(two.alone - 20, 2 * (four.alone - 20)) << "half the schedulers";
  EXPECT_DOUBLE_EQ(two.together, four.together) << "an SM's units do the same";
}

}  // namespace
}  // namespace attnprof
