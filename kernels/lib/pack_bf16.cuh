// Two bf16 from fp32.
#pragma once

#include <stdint.h>

// PTX ISA, cvt: .bf16x2 destination, round to nearest even; the second source is the low half.
__device__ inline uint32_t pack2_bf16(float low, float high) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
