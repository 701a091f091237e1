#include "gate/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/error.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

const Metric bytes{"hbm_bytes", Category::bytes, Direction::lower, 0.01, 1000};
const Metric latency{"latency_median_ns", Category::latency, Direction::lower, 0.05, 2000};

Verdict of(double baseline, double current, const Metric& metric = bytes) {
  return judge_amount(metric, baseline, current).verdict;
}

Timing timing(double median, double half_width = 0.003) {
  Timing timing;
  timing.median_ns = median;
  timing.low_ns = median * (1 - half_width);
  timing.high_ns = median * (1 + half_width);
  return timing;
}

TEST(Verdict, AmountsNeedShareAndFloor) {
  EXPECT_EQ(of(1e6, 1e6), Verdict::same);
  EXPECT_EQ(of(1e6, 1.01e6), Verdict::same) << "at the threshold";
  EXPECT_EQ(of(1e6, 1.0101e6), Verdict::worse);
  EXPECT_EQ(of(1e6, 0.98e6), Verdict::better);
  EXPECT_EQ(of(1e4, 1.09e4), Verdict::same) << "9 %, but below the floor";
  EXPECT_EQ(of(0, 0), Verdict::same);
  EXPECT_EQ(of(0, 2000), Verdict::worse);
  EXPECT_EQ(of(2000, 0), Verdict::better);
  const Metric exact{"registers", Category::build, Direction::lower, 0, 0};
  EXPECT_EQ(of(0, 1, exact), Verdict::worse);
  EXPECT_EQ(of(128, 129, exact), Verdict::worse);
  EXPECT_EQ(of(128, 128, exact), Verdict::same);
}

TEST(Verdict, HigherMayBeBetter) {
  const Metric speed{"tflops", Category::other, Direction::higher, 0.01, 0};
  EXPECT_EQ(of(100, 98, speed), Verdict::worse);
  EXPECT_EQ(of(100, 102, speed), Verdict::better);
  EXPECT_EQ(of(0, 1, speed), Verdict::better);
  EXPECT_EQ(of(-100, -102, speed), Verdict::worse);
}

TEST(Verdict, LatencyIsWorseOnlyBeyondItsInterval) {
  EXPECT_EQ(judge_latency(latency, timing(1e6), timing(1.04e6)).verdict, Verdict::same);
  EXPECT_EQ(judge_latency(latency, timing(1e6), timing(1.06e6)).verdict, Verdict::worse);
  EXPECT_EQ(judge_latency(latency, timing(1e6), timing(0.9e6)).verdict, Verdict::better);
  const Judgement wide = judge_latency(latency, timing(1e6), timing(1.06e6, 0.02));
  EXPECT_EQ(wide.verdict, Verdict::ambiguous);
  EXPECT_THAT(wide.why, HasSubstr("95 % interval goes down to +4.2"));
  EXPECT_EQ(judge_latency(latency, timing(10'000), timing(11'900)).verdict, Verdict::same) << "the floor";
  EXPECT_EQ(judge_latency(latency, timing(10'000), timing(12'100)).verdict, Verdict::worse);
}

TEST(Verdict, ThreePercentAreFoundAtTwo) {
  Metric tight = latency;
  tight.relative = 0.02;
  EXPECT_EQ(judge_latency(tight, timing(60'000, 0.005), timing(62'100, 0.005)).verdict, Verdict::worse);
}

TEST(Verdict, ASlowdownThatIsNotTheKernelsIsAmbiguous) {
  for (const char* flag : {"gpu_shared", "drift", "above_ceiling;throttled"})
    for (const bool in_baseline : {false, true}) {
      Timing old_time = timing(1e6), new_time = timing(1.2e6);
      (in_baseline ? old_time : new_time).flags = flag;
      EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::ambiguous) << flag;
    }
  Timing imprecise = timing(1.2e6);
  imprecise.flags = "imprecise;uncalibrated";
  EXPECT_EQ(judge_latency(latency, timing(1e6), imprecise).verdict, Verdict::worse);
  Timing few = timing(1.2e6);
  few.low_ns = few.high_ns = std::nullopt;
  EXPECT_THAT(judge_latency(latency, timing(1e6), few).why, HasSubstr("too few samples"));
}

TEST(Verdict, ASlowdownThatDisappearsInCyclesIsAmbiguous) {
  Timing old_time = timing(1e6), new_time = timing(1.2e6);
  old_time.cycles = 1'000'000;
  new_time.cycles = 1'010'000;
  const Judgement clock = judge_latency(latency, old_time, new_time);
  EXPECT_EQ(clock.verdict, Verdict::ambiguous);
  EXPECT_THAT(clock.why, HasSubstr("SM cycles changed by only +1.00 %"));
  new_time.cycles = 1'190'000;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::worse);
  old_time.cycles = new_time.cycles = std::nullopt;
  old_time.clock_mhz = 1980;
  new_time.clock_mhz = 1650;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::ambiguous);
  new_time.clock_mhz = 1980;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::worse);
}

// Counted in one run, cycles scatter by more than a small slowdown; the clock of the timed samples does not.
TEST(Verdict, CountedCyclesSpeakOnlyBeyondTheirScatter) {
  Timing old_time = timing(1e6), new_time = timing(1.06e6);
  old_time.cycles = 2'000'000;
  new_time.cycles = 1'980'000;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::worse);
  new_time.cycles = 1'900'000;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::ambiguous);
  new_time.cycles = 2'100'000;
  old_time.clock_mhz = 1980;
  new_time.clock_mhz = 1860;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::ambiguous)
      << "the clock alone explains it";
  new_time.clock_mhz = 1980;
  new_time.cycles = 1'800'000;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::worse)
      << "the timed samples' own clock says more than a run under the profiler";
}

TEST(Verdict, AnImprovementThatIsNotCertainIsNone) {
  Timing shared = timing(0.8e6);
  shared.flags = "gpu_shared";
  EXPECT_EQ(judge_latency(latency, timing(1e6), shared).verdict, Verdict::same);
}

HbmCounts counted(double count, double spread_pct, double counts) { return {count, spread_pct, counts}; }
HbmCounts counted_once(double count) { return {count, std::nullopt, std::nullopt}; }

TEST(Verdict, HbmUncertaintyShrinksWithCounts) {
  EXPECT_EQ(hbm_uncertainty(counted_once(1e8)), 0) << "one count says nothing of itself";
  EXPECT_NEAR(hbm_uncertainty(counted(1e8, 1, 5)), 0.00843, 1e-5) << "3.5 x 1.2533 x 1 % / 2.326 / sqrt(5)";
  EXPECT_NEAR(hbm_uncertainty(counted(1e8, 1, 24)), 0.00230, 1e-5);
  EXPECT_EQ(hbm_uncertainty(counted(1e8, 1, 100)), hbm_uncertainty(counted(1e8, 1, 24)));
  EXPECT_EQ(hbm_uncertainty({1e8, 1, std::nullopt}), hbm_uncertainty(counted(1e8, 1, 2)))
      << "files without hbm_counts: taken for the fewest";
}

TEST(Verdict, HbmBytesAreWorseOnlyBeyondTheirScatter) {
  const auto judged = [](double current, double spread_pct) {
    return judge_hbm(bytes, counted(1e8, spread_pct, 16), counted(current, spread_pct, 16));
  };
  EXPECT_EQ(judged(1.02e8, 0.1).verdict, Verdict::worse);
  EXPECT_EQ(judged(1.02e8, 1.9).verdict, Verdict::worse) << "1 % of it is certain";
  const Judgement unclear = judged(1.02e8, 3);
  EXPECT_EQ(unclear.verdict, Verdict::ambiguous) << "never silently the same";
  EXPECT_THAT(unclear.why, HasSubstr("its counts scatter, which explains all but +0.68 %"));
  EXPECT_NEAR(unclear.uncertainty, 0.0132, 1e-4);
  EXPECT_EQ(judged(1.05e8, 3).verdict, Verdict::worse);
  EXPECT_EQ(judged(1.005e8, 3).verdict, Verdict::same);
  EXPECT_EQ(judged(0.98e8, 3).verdict, Verdict::same) << "an improvement that is not certain is none";
  EXPECT_EQ(judged(0.95e8, 3).verdict, Verdict::better);
}

TEST(Verdict, HbmBytesCountedOnceAreJudgedAsTheyStandAndSaySo) {
  const Judgement judgement = judge_hbm(bytes, counted_once(1e8), counted_once(1.03e8));
  EXPECT_EQ(judgement.verdict, Verdict::worse);
  EXPECT_EQ(judgement.why, "counted once");
  EXPECT_EQ(judge_hbm(bytes, counted_once(0), counted(2000, 3, 5)).verdict, Verdict::worse) << "from 0";
  EXPECT_EQ(judge_hbm(bytes, counted_once(1e8), counted(1.02e8, 3, 5)).verdict, Verdict::ambiguous)
      << "what is known of one of them counts";
}

TEST(Verdict, CountsOfOneUnchangedKernelAreNoRegression) {
  std::mt19937_64 random(1);
  // Five are the last only where they agree within half a percent (recount.hpp).
  for (const auto& [counts, deviation] :
       {std::pair<size_t, double>{5, 0.001}, {5, 0.01}, {24, 0.03}, {24, 0.15}}) {
    std::normal_distribution<double> draw(1e8, deviation * 1e8);
    const auto row = [&] {
      std::vector<double> values(counts);
      for (double& value : values) value = draw(random);
      const auto [low, high] = std::ranges::minmax(values);
      return counted(median(values), 100 * (high - low) / median(values), static_cast<double>(counts));
    };
    int worse = 0;
    for (int i = 0; i < 1000; ++i) worse += judge_hbm(bytes, row(), row()).verdict == Verdict::worse;
    EXPECT_LE(worse, 1) << counts << " counts of " << deviation;
  }
}

TEST(Verdict, ThrottlingAtOneClockDisturbsNothing) {
  Timing old_time = timing(1e6), new_time = timing(1.2e6);
  old_time.flags = "throttled";
  old_time.clock_mhz = new_time.clock_mhz = 1965;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::worse);
  new_time.clock_mhz = 1950;
  EXPECT_EQ(judge_latency(latency, old_time, new_time).verdict, Verdict::ambiguous);
}

// A slowdown of exactly the threshold is called worse by 5 % of measurements, one of half a percent more by
// most.
TEST(Verdict, TheIntervalOfTheRatioIsOneSided) {
  Metric tight = latency;
  tight.relative = 0.02;
  std::mt19937_64 random(1);
  const double error = 0.0015;  // of a median; its two-sided 95 % interval is 1.96 of it to either side
  const auto share_worse = [&](double slowdown) {
    std::normal_distribution<double> draw(1, error);
    int worse = 0;
    for (int i = 0; i < 4000; ++i)
      worse += judge_latency(tight, timing(1e6 * draw(random), 1.96 * error),
                             timing((1 + slowdown) * 1e6 * draw(random), 1.96 * error))
                   .verdict == Verdict::worse;
    return worse / 4000.0;
  };
  EXPECT_NEAR(share_worse(0.02), 0.05, 0.012);
  EXPECT_GT(share_worse(0.03), 0.99);
}

TEST(Floors, OfLatencyShrinksWithATighterThreshold) {
  EXPECT_DOUBLE_EQ(default_latency_floor_ns(0.05), 2000);
  EXPECT_DOUBLE_EQ(default_latency_floor_ns(0.10), 2000);
  EXPECT_DOUBLE_EQ(default_latency_floor_ns(0.02), 800);
  EXPECT_DOUBLE_EQ(default_latency_floor_ns(0), 0);
}

TEST(Metric, ThresholdsAreReadStrictly) {
  EXPECT_DOUBLE_EQ(parse_relative("--hbm", "1%"), 0.01);
  EXPECT_DOUBLE_EQ(parse_relative("--hbm", "0%"), 0);
  EXPECT_DOUBLE_EQ(parse_floor_bytes("--hbm-floor", "512KiB"), 524288);
  EXPECT_DOUBLE_EQ(parse_floor_bytes("--hbm-floor", "1MB"), 1e6);
  EXPECT_DOUBLE_EQ(parse_floor_ns("--latency-floor", "2us"), 2000);
  for (const char* text : {"1", "-1%", "101%", "nan%", "inf%", "", "%", "1 %", "1,5%"})
    EXPECT_THROW(parse_relative("--hbm", text), UsageError) << text;
  for (const char* text : {"1kb", "-1", "nan", "", "1MiB "})
    EXPECT_THROW(parse_floor_bytes("--hbm-floor", text), UsageError) << text;
  EXPECT_THROW(parse_floor_ns("--latency-floor", "2"), UsageError);
}

TEST(Metric, PeopleReadWordsAndNoColumns) {
  for (const Metric& metric : default_metrics())
    EXPECT_THAT(human_name(metric), testing::Not(HasSubstr("_"))) << metric.column;
}

TEST(Metric, OnesOfOtherPeoplesColumns) {
  const Metric metric = parse_metric("seconds:higher:2%:0.5");
  EXPECT_EQ(metric.column, "seconds");
  EXPECT_EQ(metric.direction, Direction::higher);
  EXPECT_DOUBLE_EQ(metric.relative, 0.02);
  EXPECT_DOUBLE_EQ(metric.floor, 0.5);
  for (const char* text : {"", "a", "a:lower", "a:lower:1%", "a:down:1%:0", ":lower:1%:0", "a:lower:1:0",
                           "a:lower:1%:x", "a:lower:1%:0:"})
    EXPECT_THROW(parse_metric(text), UsageError) << text;
}

}  // namespace
}  // namespace attnprof
