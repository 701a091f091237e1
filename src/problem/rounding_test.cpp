#include "problem/rounding.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

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
  EXPECT_EQ(round_to(ElementType::fp16, 1.0f + std::ldexp(1.0f, -11)), 1.0f);
  EXPECT_EQ(round_to(ElementType::fp16, 1.0f + 3 * std::ldexp(1.0f, -11)), 1.0f + std::ldexp(1.0f, -9));
  EXPECT_EQ(round_to(ElementType::bf16, 1.0f + std::ldexp(1.0f, -8)), 1.0f);
  EXPECT_EQ(round_to(ElementType::bf16, 1.0f + 3 * std::ldexp(1.0f, -8)), 1.0f + std::ldexp(1.0f, -6));
}

TEST(Rounding, ExtremesAreKept) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(round_to(ElementType::fp16, 65504.0f), 65504.0f);
  EXPECT_EQ(round_to(ElementType::fp16, 65520.0f), infinity);
  EXPECT_EQ(round_to(ElementType::fp16, std::ldexp(1.0f, -24)), std::ldexp(1.0f, -24));
  EXPECT_EQ(round_to(ElementType::fp16, std::ldexp(1.0f, -26)), 0.0f);
  EXPECT_TRUE(std::isnan(round_to(ElementType::bf16, std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(round_to(ElementType::bf16, -infinity), -infinity);
}

TEST(Rounding, WholeNumbersAreKept) {
  unsigned char memory[8] = {};
  for (const float value : {0.0f, -3.0f, 16777216.0f}) {
    store_element(ElementType::int32, memory, 1, value);
    EXPECT_EQ(load_element(ElementType::int32, memory, 1), value);
    EXPECT_EQ(round_to(ElementType::int32, value), value);
  }
  EXPECT_EQ(load_element(ElementType::int32, memory, 0), 0) << "the element beside it";
  EXPECT_EQ(round_to(ElementType::int32, 2.5f), 2.0f);
}

TEST(Rounding, TheNaNByteIsNaNInEveryDtype) {
  const std::vector<uint8_t> bytes(sizeof(float), nan_byte);
  for (const ElementType dtype : {ElementType::fp32, ElementType::fp16, ElementType::bf16, ElementType::e4m3})
    EXPECT_TRUE(std::isnan(load_element(dtype, bytes.data(), 0))) << to_string(dtype);
}

// The definition (OCP 8-bit floating point, E4M3), in fp64: sign, 4 exponent bits of bias 7, 3 of mantissa.
double e4m3_by_definition(int code) {
  const int exponent = (code >> 3) & 0xF, mantissa = code & 7;
  const double magnitude =
      exponent == 0 ? mantissa / 8.0 * std::exp2(-6) : (1 + mantissa / 8.0) * std::exp2(exponent - 7);
  return code & 0x80 ? -magnitude : magnitude;
}

bool e4m3_is_nan(int code) { return (code & 0x7F) == 0x7F; }

TEST(RoundingToE4m3, EveryCodeIsWhatTheDefinitionSays) {
  for (int code = 0; code < 256; ++code) {
    const float value = from_e4m3_bits(static_cast<uint8_t>(code));
    if (e4m3_is_nan(code)) {
      EXPECT_TRUE(std::isnan(value)) << code;
      continue;
    }
    EXPECT_EQ(static_cast<double>(value), e4m3_by_definition(code)) << code;
    EXPECT_EQ(std::signbit(value), code >= 0x80) << code;
    EXPECT_EQ(to_e4m3_bits(value), code);
  }
  EXPECT_EQ(from_e4m3_bits(0x7E), 448.0f);
}

// Between neighbours: the halfway point goes to the even code, everything else to the nearer one.
TEST(RoundingToE4m3, NearestAndTiesToEven) {
  for (int code = 0; code < 0x7E; ++code) {
    const auto low = static_cast<float>(e4m3_by_definition(code));
    const auto high = static_cast<float>(e4m3_by_definition(code + 1));
    const float half = (low + high) / 2;  // exact
    for (int sign : {0, 0x80}) {
      const float s = sign ? -1.0f : 1.0f;
      EXPECT_EQ(to_e4m3_bits(s * half), sign | (code % 2 == 0 ? code : code + 1)) << code;
      EXPECT_EQ(to_e4m3_bits(s * std::nextafter(half, low)), sign | code) << code;
      EXPECT_EQ(to_e4m3_bits(s * std::nextafter(half, high)), sign | (code + 1)) << code;
    }
  }
}

TEST(RoundingToE4m3, SaturatesAndKeepsNaN) {
  const float infinity = std::numeric_limits<float>::infinity();
  for (float large : {448.0f, 463.9f, 464.0f, 480.0f, 1e30f, std::numeric_limits<float>::max(), infinity}) {
    EXPECT_EQ(round_to(ElementType::e4m3, large), 448.0f) << large;
    EXPECT_EQ(round_to(ElementType::e4m3, -large), -448.0f) << large;
  }
  EXPECT_EQ(to_e4m3_bits(std::numeric_limits<float>::quiet_NaN()), 0x7F);
  EXPECT_EQ(to_e4m3_bits(std::numeric_limits<float>::denorm_min()), 0);
  EXPECT_EQ(to_e4m3_bits(std::ldexp(1.0f, -10)), 0) << "half of the least: to even";
}

TEST(RoundingToE4m3, ElementsAreBytes) {
  unsigned char data[3] = {0, 0, 0};
  store_element(ElementType::e4m3, data, 1, 1.5f);
  EXPECT_EQ(data[0], 0);
  EXPECT_EQ(data[1], 0x3C);
  EXPECT_EQ(data[2], 0);
  EXPECT_EQ(load_element(ElementType::e4m3, data, 1), 1.5f);
}

}  // namespace
}  // namespace attnprof
