#include "verify/verdict.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace attnprof {
namespace {

// `rows` right rows of ones.
ErrorMeter meter_of(int rows) {
  ErrorMeter meter(4);
  for (int i = 0; i < rows; ++i) meter.add(std::vector<double>(4, 1.0), std::vector<float>(4, 1.0f));
  return meter;
}

// Off by `error`, relative.
ErrorMeter meter_off_by(double error) {
  ErrorMeter meter(4);
  meter.add(std::vector<double>(4, 1000.0), std::vector<float>(4, static_cast<float>(1000 + 1000 * error)));
  return meter;
}

TEST(Verdict, HoldsTheFrobeniusNormAgainstTheTolerance) {
  for (const double tolerance : {1e-5, 2e-3, 1.5e-2})
    for (const double share : {0.9, 1.1}) {
      const Verification result = verdict({}, {{"O", tolerance, meter_off_by(share * tolerance)}});
      EXPECT_NEAR(*result.rel_err, share * tolerance, 0.05 * tolerance);
      EXPECT_EQ(result.verified, share < 1 ? "yes" : "no") << tolerance;
      EXPECT_EQ(result.reason.empty(), share < 1);
    }
  EXPECT_EQ(verdict({}, {{"O", 0.01, meter_off_by(0.5)}}).reason,
            "relative error 0.5 is above the fp16 tolerance 0.01");
}

TEST(Verdict, OneWrongRowAmongManyIsWrong) {
  ErrorMeter meter = meter_of(100'000);
  const Problem bf16{.dtype = Dtype::bf16};
  EXPECT_EQ(verdict(bf16, {{"O", 0.015, meter}}).verified, "yes");
  meter.add(std::vector<double>(4, 1.0), std::vector<float>(4, 0.0f));
  const Verification result = verdict(bf16, {{"O", 0.015, meter}});
  EXPECT_LT(*result.rel_err, 0.015) << "the norm over all does not show it";
  EXPECT_EQ(result.verified, "no");
  EXPECT_EQ(result.reason,
            "a row is off by more than 10 times the bf16 tolerance 0.015, and by up to 1 in an element; all "
            "checked rows together by 0.00316");
}

TEST(Verdict, WhatIsNotFiniteIsWrongAndHasNoError) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    ErrorMeter meter = meter_of(10);
    meter.add(std::vector<double>(4, 1.0), std::vector<float>{1, 1, bad, 1});
    const Verification result = verdict({}, {{"O", 0.015, meter}});
    EXPECT_EQ(result.verified, "no");
    EXPECT_FALSE(result.rel_err);
    EXPECT_EQ(result.reason, "the output has values that are not finite");
  }
  ErrorMeter elsewhere = meter_of(10);
  elsewhere.add_not_finite();
  EXPECT_EQ(verdict({}, {{"O", 0.015, elsewhere}}).verified, "no");
}

TEST(Verdict, RowsThatSeeNoKeyMustBeZero) {
  ErrorMeter meter(4);
  meter.add(std::vector<double>(4, 0.0), std::vector<float>(4, 0.0f));
  EXPECT_EQ(verdict({}, {{"O", 2e-3, meter}}).verified, "yes");
  meter.add(std::vector<double>(4, 0.0), std::vector<float>(4, 0.1f));
  EXPECT_EQ(verdict({}, {{"O", 2e-3, meter}}).verified, "no");
}

// A gradient that is right to be almost zero is rounded like the others: it is held against the mean row,
// too.
TEST(Verdict, RowsThatMayVanishAreHeldAgainstTheMeanRow) {
  for (const bool rows_may_vanish : {false, true})
    for (const float error : {1e-4f, 0.9f}) {
      ErrorMeter meter(4, rows_may_vanish);
      for (int i = 0; i < 10'000; ++i) meter.add(std::vector<double>(4, 1.0), std::vector<float>(4, 1.0f));
      meter.add(std::vector<double>(4, 1e-6), std::vector<float>(4, 1e-6f + error));
      const bool right = rows_may_vanish && error < 0.5f;
      EXPECT_EQ(verdict({}, {{"dQ", 2e-2, meter}}).verified, right ? "yes" : "no")
          << rows_may_vanish << error;
    }
}

// Each output has a tolerance of its own; the row says the one that is furthest from it.
TEST(Verdict, OfSeveralOutputsTheWorstCounts) {
  const CheckedOutput good{"dQ", 0.1, meter_off_by(0.05)}, close{"dK", 0.01, meter_off_by(0.009)},
      bad{"dV", 0.01, meter_off_by(0.02)};
  const Verification right = verdict({}, {good, close});
  EXPECT_EQ(right.verified, "yes");
  EXPECT_NEAR(*right.rel_err, 0.009, 1e-4);
  const Verification wrong = verdict({}, {good, bad, close});
  EXPECT_EQ(wrong.verified, "no");
  EXPECT_EQ(wrong.reason, "dV: relative error 0.02 is above the fp16 tolerance 0.01");
  ErrorMeter nan = meter_of(1);
  nan.add_not_finite();
  EXPECT_EQ(verdict({}, {bad, {"dK", 0.5, nan}}).reason, "dK: it has values that are not finite");
}

}  // namespace
}  // namespace attnprof
