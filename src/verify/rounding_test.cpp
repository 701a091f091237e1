#include "verify/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace attnprof {
namespace {

TEST(Rounding, EveryFiniteHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    if (std::isnan(from_fp16_bits(half))) continue;
    EXPECT_EQ(to_fp16_bits(from_fp16_bits(half)), half);
    if (!std::isnan(from_bf16_bits(half))) {
      EXPECT_EQ(to_bf16_bits(from_bf16_bits(half)), half);
    }
  }
}

TEST(Rounding, TiesGoToEven) {
  EXPECT_EQ(round_to(Dtype::fp16, 1.0f + std::ldexp(1.0f, -11)), 1.0f);
  EXPECT_EQ(round_to(Dtype::fp16, 1.0f + 3 * std::ldexp(1.0f, -11)), 1.0f + std::ldexp(1.0f, -9));
  EXPECT_EQ(round_to(Dtype::bf16, 1.0f + std::ldexp(1.0f, -8)), 1.0f);
  EXPECT_EQ(round_to(Dtype::bf16, 1.0f + 3 * std::ldexp(1.0f, -8)), 1.0f + std::ldexp(1.0f, -6));
}

TEST(Rounding, ExtremesAreKept) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_to(Dtype::fp16, 65504.0f), 65504.0f);
  EXPECT_EQ(round_to(Dtype::fp16, 65520.0f), infinity);
  EXPECT_EQ(round_to(Dtype::fp16, std::ldexp(1.0f, -24)), std::ldexp(1.0f, -24));
  EXPECT_EQ(round_to(Dtype::fp16, std::ldexp(1.0f, -26)), 0.0f);
  EXPECT_TRUE(std::isnan(round_to(Dtype::bf16, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(round_to(Dtype::bf16, -infinity), -infinity);
}

}  // namespace
}  // namespace attnprof
