// Rounding fp32 values to a storage dtype and back, bit for bit as the hardware's round-to-nearest-even
// conversions.
#pragma once

#include <cstdint>

#include "problem/problem.hpp"

namespace attnprof {

uint16_t to_fp16_bits(float value);
float from_fp16_bits(uint16_t bits);
uint16_t to_bf16_bits(float value);
float from_bf16_bits(uint16_t bits);
// e4m3 (OCP FP8): 4 exponent bits of bias 7, 3 of mantissa, no infinity; 0x7F and 0xFF are NaN. Saturates at
// 448, as cvt.rn.satfinite does.
uint8_t to_e4m3_bits(float value);
float from_e4m3_bits(uint8_t bits);

// Repeated, a NaN of every dtype, wherever an element begins.
inline constexpr uint8_t nan_byte = 0xFF;

// The nearest value that `dtype` can store.
float round_to(Dtype dtype, float value);

// Element `index` of a dense array of `dtype`.
float load_element(Dtype dtype, const void* data, int64_t index);
void store_element(Dtype dtype, void* data, int64_t index, float value);

}  // namespace attnprof
