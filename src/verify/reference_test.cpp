#include "verify/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "verify/wrong_output.hpp"

namespace attnprof {
namespace {

Problem small(Mask mask = Mask::full) {
  return {.mask = mask, .batch = 1, .heads = 1, .kv_heads = 1, .q_len = 2, .kv_len = 2, .head_dim = 4};
}

TEST(Reference, ARowByHand) {
  const std::vector<float> q = {1, 0, 0, 0}, k = {2, 0, 0, 0, 0, 0, 0, 0}, v = {1, 2, 3, 4, 5, 6, 7, 8};
  // Scores 2 and 0 over sqrt(4): weights e and 1.
  const double e = std::exp(1.0);
  const std::vector<double> row = reference_row(small(), 1, q, k, v);
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(row[c], (e * v[c] + v[4 + c]) / (e + 1), 1e-15);
}

TEST(Reference, CausalRowsSeeTheirPrefix) {
  const std::vector<float> q(4, 1), k(8, 1), v = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(reference_row(small(Mask::causal), 0, q, k, v), (std::vector<double>{1, 2, 3, 4}));
  Problem longer = small(Mask::causal);
  longer.q_len = 3;
  EXPECT_EQ(reference_row(longer, 0, q, k, v), std::vector<double>(4, 0.0)) << "sees no key";
}

TEST(Reference, LargeScoresDoNotOverflow) {
  const std::vector<float> q(4, 100), k(8, 100), v(8, 3);
  EXPECT_EQ(reference_row(small(), 0, q, k, v), std::vector<double>(4, 3.0));
}

// Elements with scales are the values they stand for.
TEST(Reference, ScalesAreMultipliedIn) {
  const std::vector<float> q = {1, -2, 3, 0.5f}, k = {2, 0, 1, -1, 0, 1, 1, 4}, v = {1, 2, 3, 4, 5, 6, 7, 8};
  const auto times = [](std::vector<float> values, float scale) {
    for (float& value : values) value *= scale;
    return values;
  };
  const std::vector<double> scaled = reference_row(small(), 0, q, k, v, {0.5, 0.25, 4});
  const std::vector<double> values = reference_row(small(), 0, times(q, 0.5f), times(k, 0.25f), times(v, 4));
  for (size_t c = 0; c < 4; ++c) EXPECT_NEAR(scaled[c], values[c], 1e-14);
  EXPECT_NE(scaled, reference_row(small(), 0, q, k, v));
}

std::set<int64_t> slices_of(const std::vector<SampledRow>& rows) {
  std::set<int64_t> slices;
  for (const SampledRow& row : rows) slices.insert(row.slice);
  return slices;
}

bool has_row(const std::vector<SampledRow>& rows, int64_t wanted) {
  for (const SampledRow& row : rows)
    if (row.row == wanted) return true;
  return false;
}

TEST(RowsToVerify, EveryQueryHeadOfEverySequence) {
  for (auto [batch, heads, kv_heads] :
       {std::tuple<int64_t, int64_t, int64_t>{1, 1, 1}, {1, 16, 1}, {3, 8, 2}}) {
    const Problem p{.batch = batch, .heads = heads, .kv_heads = kv_heads, .q_len = 1000, .kv_len = 1000};
    const std::vector<SampledRow> rows = rows_to_verify(p, 7, false);
    EXPECT_EQ(slices_of(rows).size(), static_cast<size_t>(batch * heads));
    EXPECT_TRUE(has_row(rows, 0) && has_row(rows, 999));
    EXPECT_GE(rows.size(), 64u);
    for (const SampledRow& row : rows) EXPECT_TRUE(row.row >= 0 && row.row < 1000);
    EXPECT_EQ(rows_to_verify(p, 7, true).size(), static_cast<size_t>(batch * heads * 1000));
  }
}

// `rows` right rows of ones.
ErrorMeter meter_of(int rows) {
  ErrorMeter meter(4);
  for (int i = 0; i < rows; ++i) meter.add(std::vector<double>(4, 1.0), std::vector<float>(4, 1.0f));
  return meter;
}

TEST(ErrorMeter, HoldsTheFrobeniusNormAgainstTheTolerance) {
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    for (const double share : {0.9, 1.1}) {
      ErrorMeter meter(4);
      const auto off = static_cast<float>(1000 + 1000 * share * tolerance(dtype));
      meter.add(std::vector<double>(4, 1000.0), std::vector<float>(4, off));
      const Verification result = meter.verdict(dtype);
      EXPECT_NEAR(*result.rel_err, share * tolerance(dtype), 0.05 * tolerance(dtype));
      EXPECT_EQ(result.verified, share < 1 ? "yes" : "no") << to_string(dtype);
    }
}

TEST(ErrorMeter, OneWrongRowAmongManyIsWrong) {
  ErrorMeter meter = meter_of(100'000);
  EXPECT_EQ(meter.verdict(Dtype::bf16).verified, "yes");
  meter.add(std::vector<double>(4, 1.0), std::vector<float>(4, 0.0f));
  const Verification result = meter.verdict(Dtype::bf16);
  EXPECT_LT(*result.rel_err, tolerance(Dtype::bf16)) << "the norm over all does not show it";
  EXPECT_EQ(result.verified, "no");
  EXPECT_EQ(wrong_output_reason(result, {.dtype = Dtype::bf16}),
            "a row is off by more than 10 times the bf16 tolerance 0.015, and by up to 1 in an element; all "
            "checked rows together by 0.00316");
}

TEST(ErrorMeter, WhatIsNotFiniteIsWrongAndHasNoError) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ErrorMeter meter = meter_of(10);
    meter.add(std::vector<double>(4, 1.0), std::vector<float>{1, 1, bad, 1});
    EXPECT_EQ(meter.verdict(Dtype::fp16).verified, "no");
    EXPECT_FALSE(meter.verdict(Dtype::fp16).rel_err);
  }
  ErrorMeter elsewhere = meter_of(10);
  elsewhere.add_not_finite();
  EXPECT_EQ(elsewhere.verdict(Dtype::fp16).verified, "no");
}

TEST(ErrorMeter, RowsThatSeeNoKeyMustBeZero) {
  ErrorMeter meter(4);
  meter.add(std::vector<double>(4, 0.0), std::vector<float>(4, 0.0f));
  EXPECT_EQ(meter.verdict(Dtype::fp16).verified, "yes");
  meter.add(std::vector<double>(4, 0.0), std::vector<float>(4, 0.1f));
  EXPECT_EQ(meter.verdict(Dtype::fp16).verified, "no");
}

}  // namespace
}  // namespace attnprof
