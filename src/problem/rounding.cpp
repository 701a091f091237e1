#include "problem/rounding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace attnprof {

uint16_t to_fp16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);   // NaN
  if (magnitude >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // rounds to infinity
  if (magnitude < 0x38800000u) {
    // Subnormal: adding 0.5 lines the mantissa up with 2^-24, and the FPU rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

float from_fp16_bits(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1Fu;
  const uint32_t mantissa = bits & 0x3FFu;
  if (exponent == 0) {
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  const uint32_t widened = exponent == 31 ? 0x7F800000u : (exponent + 112) << 23;
  return std::bit_cast<float>(sign | widened | (mantissa << 13));
}

uint16_t to_bf16_bits(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<uint16_t>((bits >> 16) | 0x0040u);
  return static_cast<uint16_t>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

float from_bf16_bits(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint8_t to_e4m3_bits(float value) {
  constexpr uint32_t largest = 0x7E, nan = 0x7F;
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 24) & 0x80u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return static_cast<uint8_t>(sign | nan);
  if (magnitude < 0x3C800000u) {
    // Subnormal, below 2^-6: adding 2^14 lines the mantissa up with 2^-9, and the FPU rounds to nearest even.
    const float shifted = std::bit_cast<float>(magnitude) + 16384.0f;
    return static_cast<uint8_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x46800000u));
  }
  const uint32_t odd = (magnitude >> 20) & 1u;
  const uint32_t rounded = (magnitude - 0x3C000000u + 0x7FFFFu + odd) >> 20;
  return static_cast<uint8_t>(sign | std::min(rounded, largest));
}

float from_e4m3_bits(uint8_t bits) {
  const int exponent = (bits >> 3) & 0xF, mantissa = bits & 7;
  float magnitude = std::numeric_limits<float>::quiet_NaN();
  if (exponent == 0)
    magnitude = std::ldexp(static_cast<float>(mantissa), -9);
  else if ((bits & 0x7F) != 0x7F)
    magnitude = std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return bits & 0x80 ? -magnitude : magnitude;
}

float round_to(ElementType type, float value) {
  switch (type) {
    case ElementType::fp32:
      return value;
    case ElementType::fp16:
      return from_fp16_bits(to_fp16_bits(value));
    case ElementType::bf16:
      return from_bf16_bits(to_bf16_bits(value));
    case ElementType::e4m3:
      return from_e4m3_bits(to_e4m3_bits(value));
    case ElementType::int32:
      return std::nearbyint(value);
  }
  return value;
}

float load_element(ElementType type, const void* data, int64_t index) {
  const auto* bytes = static_cast<const unsigned char*>(data) + index * bytes_per_element(type);
  const auto as = [bytes]<typename T>(T bits) {
    std::memcpy(&bits, bytes, sizeof bits);
    return bits;
  };
  switch (type) {
    case ElementType::fp32:
      return as(float{});
    case ElementType::fp16:
      return from_fp16_bits(as(uint16_t{}));
    case ElementType::bf16:
      return from_bf16_bits(as(uint16_t{}));
    case ElementType::e4m3:
      return from_e4m3_bits(*bytes);
    case ElementType::int32:
      return static_cast<float>(as(int32_t{}));
  }
  return 0;
}

void store_element(ElementType type, void* data, int64_t index, float value) {
  auto* bytes = static_cast<unsigned char*>(data) + index * bytes_per_element(type);
  const auto put = [bytes](auto bits) { std::memcpy(bytes, &bits, sizeof bits); };
  switch (type) {
    case ElementType::fp32:
      return put(value);
    case ElementType::fp16:
      return put(to_fp16_bits(value));
    case ElementType::bf16:
      return put(to_bf16_bits(value));
    case ElementType::e4m3:
      return put(to_e4m3_bits(value));
    case ElementType::int32:
      return put(static_cast<int32_t>(std::lrint(value)));
  }
}

}  // namespace attnprof
