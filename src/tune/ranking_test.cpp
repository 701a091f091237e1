#include "tune/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Row timed(double low, double median, double high) {
  Row row;
  row.status.disposition = "ok";
  row.latency.latency_source = "cuda_events";
  row.latency.median_ns = median;
  row.latency.ci95_low_ns = low;
  row.latency.ci95_high_ns = high;
  return row;
}

TEST(Ranking, MarginsIntervalIsWhatBothIntervalsLeaveOpen) {
  const Margin clear = margin(timed(99, 100, 101), timed(109, 110, 111));
  EXPECT_NEAR(clear.pct, 10, 1e-9);
  EXPECT_NEAR(*clear.low_pct, 100 * (109.0 / 101 - 1), 1e-9);
  EXPECT_NEAR(*clear.high_pct, 100 * (111.0 / 99 - 1), 1e-9);
  EXPECT_FALSE(clear.within_noise());
  EXPECT_TRUE(margin(timed(99, 100, 101), timed(100.9, 102, 103)).within_noise());
}

TEST(Ranking, WithoutAnIntervalTheSamplesSpreadStands) {
  Row few = timed(0, 110, 0);
  few.latency.ci95_low_ns = few.latency.ci95_high_ns = std::nullopt;
  few.latency.min_ns = 100.5, few.latency.p90_ns = 120;
  EXPECT_TRUE(margin(timed(99, 100, 101), few).within_noise());
  few.latency.min_ns = 105;
  EXPECT_FALSE(margin(timed(99, 100, 101), few).within_noise());
}

TEST(Ranking, AModelHasNoNoise) {
  Row a = timed(0, 100, 0), b = timed(0, 100.5, 0);
  for (Row* row : {&a, &b}) {
    row->latency.latency_source = "model";
    row->latency.ci95_low_ns = row->latency.ci95_high_ns = std::nullopt;
  }
  EXPECT_NEAR(margin(a, b).pct, 0.5, 1e-9);
  EXPECT_EQ(margin(a, b).low_pct, std::nullopt);
  EXPECT_FALSE(margin(a, b).within_noise());
}

TEST(Ranking, OnlyRowsThatAreOkAreRanked) {
  Row wrong = timed(1, 1, 1);
  wrong.status.disposition = "incorrect";
  EXPECT_THAT(by_latency({timed(20, 20, 20), wrong, timed(10, 10, 10)}), ElementsAre(2, 0));
  EXPECT_THAT(finalists({wrong}), IsEmpty());
}

TEST(Ranking, FinalistsAreWhatTheFastestCannotBeToldFrom) {
  const std::vector<Row> rows = {timed(190, 200, 210), timed(99, 100, 101), timed(101, 104, 107),
                                 timed(119, 120, 121), timed(102.5, 103, 104)};
  EXPECT_THAT(finalists(rows), ElementsAre(1, 4, 2));
  EXPECT_THAT(finalists({rows[0], rows[1]}), ElementsAre(1, 0)) << "the runner-up is measured too";
  EXPECT_THAT(finalists(std::vector<Row>(20, rows[1]), 5), ElementsAre(0, 1, 2, 3, 4));
}

TEST(Ranking, WhyNamesTheColumnsThatSpeakForTheBest) {
  Row best = timed(99, 100, 101), other = timed(109, 110, 111);
  best.counters.sm_total = 500'000'000, other.counters.sm_total = 800'000'000;
  best.counters.tensor_pipe_pct = 40, other.counters.tensor_pipe_pct = 60;
  best.build.registers = 168, other.build.registers = 169;
  best.build.waves = 2.0, other.build.waves = 2.1;
  const std::string text = why(best, other);
  EXPECT_THAT(text, HasSubstr("SM 500 MB against 800 MB"));
  EXPECT_THAT(text, HasSubstr("0 % of the waves' places idle against 30 %"));
  EXPECT_THAT(text, Not(HasSubstr("tensor"))) << "that speaks against it";
  EXPECT_THAT(text, Not(HasSubstr("registers"))) << "too little";
  EXPECT_EQ(why(best, best), "no column of the row speaks for it");
}

}  // namespace
}  // namespace attnprof
