#include "explain/speedup.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <random>

#include "testing/committed_rows.hpp"
#include "testing/h200.hpp"
#include "testing/roofline_rows.hpp"

namespace attnprof {
namespace {

double product(const SpeedupSplit& split) {
  return std::accumulate(split.factors.begin(), split.factors.end(), split.remainder,
                         [](double all, const Factor& factor) { return all * factor.factor; });
}

double factor(const SpeedupSplit& split, const std::string& name) {
  for (const Factor& each : split.factors)
    if (each.name == name) return each.factor;
  ADD_FAILURE() << name;
  return 0;
}

// Whatever two rows are held against each other, of whatever times and counts.
TEST(Speedup, FactorsTimesTheRemainderAreTheSpeedup) {
  std::mt19937 rng(1);
  const char* variants[] = {"naive", "standard", "flash1", "flash2", "flash3", "torch_flash"};
  for (int trial = 0; trial < 150; ++trial) {
    const auto made = [&] {
      Row row = roofline_row(variants[rng() % 6]);
      row.identity.count("q_len") = row.identity.count("kv_len") = 128 << (rng() % 4);
      row.identity.count("batch") = 1 + static_cast<int64_t>(rng() % 8);
      row.latency.median_ns = 1000.0 + static_cast<double>(rng() % 1'000'000);
      if (rng() % 4 == 0)
        row.counters = {};
      else
        row.counters.hbm_total = static_cast<int64_t>(rng() % 1'000'000'000);
      return row;
    };
    const Row a = made(), b = made();
    const SpeedupSplit split = split_speedup(model_row(a, h200(), {}), model_row(b, h200(), {}));
    EXPECT_DOUBLE_EQ(split.speedup, *b.latency.median_ns / *a.latency.median_ns);
    EXPECT_NEAR(product(split) / split.speedup, 1, 1e-12);
    for (const Factor& each : split.factors) {
      EXPECT_GT(each.factor, 0) << each.name;
      EXPECT_FALSE(each.columns.empty() || each.text.empty()) << each.name;
    }
  }
}

TEST(Speedup, OfARowOverItselfIsOne) {
  const Row row = roofline_row();
  const RowModel model = model_row(row, h200(), {});
  const SpeedupSplit split = split_speedup(model, model);
  EXPECT_DOUBLE_EQ(split.speedup, 1);
  EXPECT_DOUBLE_EQ(split.remainder, 1);
  for (const Factor& each : split.factors) EXPECT_DOUBLE_EQ(each.factor, 1) << each.name;
}

// One row twice, but with as many more bytes as make HBM what it waits for, and the time to go with it.
TEST(Speedup, BytesAloneAreFoundAsBytes) {
  Row fewer = roofline_row(), more = roofline_row();
  more.counters.hbm_total = 2'000'000'000;
  const RowModel a = model_row(fewer, h200(), {}), b = model_row(more, h200(), {});
  fewer.latency.median_ns = a.time->ns();
  more.latency.median_ns = b.time->ns();
  const SpeedupSplit split = split_speedup(a, b);
  EXPECT_GT(split.speedup, 4);
  EXPECT_NEAR(factor(split, "fewer_bytes"), split.speedup, 0.05 * split.speedup);
  EXPECT_NEAR(split.remainder, 1, 1e-9);
}

// What neither row's bytes nor schedule say is in the remainder and nowhere else.
TEST(Speedup, ASlowerRunOfTheSameIsTheRemainder) {
  Row slow = roofline_row();
  slow.latency.median_ns = 3 * *slow.latency.median_ns;
  const Row usual = roofline_row();
  const SpeedupSplit split = split_speedup(model_row(usual, h200(), {}), model_row(slow, h200(), {}));
  EXPECT_DOUBLE_EQ(split.remainder, 3);
}

TEST(Speedup, SaysWhyThereAreNoFactors) {
  const Row peer = peer_row(), own = roofline_row();
  const SpeedupSplit split = split_speedup(model_row(own, h200(), {}), model_row(peer, h200(), {}));
  EXPECT_TRUE(split.factors.empty());
  EXPECT_DOUBLE_EQ(split.remainder, split.speedup);
  EXPECT_NE(split.why_no_factors.find("torch_flash"), std::string::npos);
}

// Four in five committed pairs at least, as the H200's rows have them (scripts/evidence/explain_evidence.py).
TEST(Speedup, LittleIsLeftOpenFromNaiveToFlash2) {
  size_t good = 0, all = 0;
  for (const char* file : {"forward.csv", "hbm.csv"})
    for (const CaseExplanation& e : explained(file, "variant=flash2", "naive").cases) {
      ASSERT_TRUE(e.against);
      const double remainder = e.against->split.remainder;
      good += remainder >= 0.8 && remainder <= 1.25, ++all;
    }
  EXPECT_EQ(all, 42u);
  EXPECT_GE(good * 5, all * 4);
}

}  // namespace
}  // namespace attnprof
