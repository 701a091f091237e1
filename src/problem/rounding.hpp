// Rounding fp32 values to a storage type and back, bit for bit as the hardware's round-to-nearest-even
// conversions.
#pragma once

#include <cstdint>

#include "problem/element_type.hpp"

namespace attnprof {

uint16_t to_fp16_bits(float value);
float from_fp16_bits(uint16_t bits);
uint16_t to_bf16_bits(float value);
float from_bf16_bits(uint16_t bits);
// e4m3 (OCP FP8): 4 exponent bits of bias 7, 3 of mantissa, no infinity; 0x7F and 0xFF are NaN. Saturates at
// 448, as cvt.rn.satfinite does.
uint8_t to_e4m3_bits(float value);
float from_e4m3_bits(uint8_t bits);

// Repeated, a NaN of every floating-point type, wherever an element begins.
inline constexpr uint8_t nan_byte = 0xFF;

// The nearest value that `type` can store: of int32 the nearest whole number.
float round_to(ElementType type, float value);

// Element `index` of a dense array of `type`; an int32 beyond 2^24 in size comes back rounded.
float load_element(ElementType type, const void* data, int64_t index);
void store_element(ElementType type, void* data, int64_t index, float value);

}  // namespace attnprof
