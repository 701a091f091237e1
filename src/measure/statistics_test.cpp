#include "measure/statistics.hpp"

#include <gtest/gtest.h>

#include <random>

namespace attnprof {
namespace {

TEST(Statistics, MedianAndQuantilesOfKnownSets) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  const std::vector<double> ten = {10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
  EXPECT_EQ(quantile(ten, 0.9), 9);
  EXPECT_EQ(quantile(ten, 0.0), 1);
  EXPECT_EQ(quantile(ten, 1.0), 10);
}

// Published ranks of the 95 % interval of a median from order statistics (Conover, Practical Nonparametric
// Statistics; the sign test's table).
TEST(Statistics, IntervalRanksAreTheSignTests) {
  EXPECT_EQ(median_interval_rank(5), 0);
  for (auto [n, rank] : {std::pair{6, 1},
                         {8, 1},
                         {9, 2},
                         {10, 2},
                         {12, 3},
                         {15, 4},
                         {20, 6},
                         {25, 8},
                         {30, 10},
                         {50, 18},
                         {100, 40}})
    EXPECT_EQ(median_interval_rank(n), rank) << n;
  EXPECT_NEAR(median_interval_rank(10000), 4902, 1);  // n/2 - 1.96 sqrt(n)/2
}

TEST(Statistics, NoIntervalBelowSixValues) {
  EXPECT_FALSE(median_interval(std::vector<double>{1, 2, 3, 4, 5}));
  const auto six = median_interval(std::vector<double>{6, 5, 4, 3, 2, 1});
  ASSERT_TRUE(six);
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
}

// For a distribution as skewed as latencies are, the interval holds the true median at least 95 % of the
// time.
TEST(Statistics, IntervalCoversTheTrueMedian) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> latency(1.0);
  const double truth = 0.6931471805599453;
  int covered = 0;
  const int trials = 4000;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> values(25);
    for (double& value : values) value = latency(random);
    const auto interval = median_interval(values);
    covered += interval->low <= truth && truth <= interval->high;
  }
  EXPECT_GE(covered, 0.945 * trials);
  EXPECT_LE(covered, 0.975 * trials);
}

TEST(Statistics, DriftComparesTheThirds) {
  EXPECT_FALSE(drift_percent(std::vector<double>{1, 1, 1, 1, 1}));
  EXPECT_NEAR(*drift_percent(std::vector<double>{100, 100, 50, 70, 110, 110}), 10, 1e-9);
  EXPECT_NEAR(*drift_percent(std::vector<double>{110, 110, 1, 1, 99, 99}), -10, 1e-9);
}

TEST(Statistics, SummaryKeepsMeasuredOrderForDriftAlone) {
  const Summary summary = summarise(std::vector<double>{6, 5, 4, 3, 2, 1});
  EXPECT_EQ(summary.min, 1);
  EXPECT_EQ(summary.median, 3.5);
  EXPECT_EQ(summary.p90, 6);
  EXPECT_EQ(summary.samples, 6);
  EXPECT_LT(*summary.drift_pct, 0);
  EXPECT_NEAR(*relative_half_width(summary), 2.5 / 3.5, 1e-12);
}

}  // namespace
}  // namespace attnprof
