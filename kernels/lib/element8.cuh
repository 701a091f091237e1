// The 8-bit storage type of Q, K and V in FP8 (DTYPE 3: e4m3), its conversion from fp32, and that of O, which
// is bf16 then.
#pragma once

#include <stdint.h>

#include "lib/exp2.cuh"
#include "lib/pack_bf16.cuh"

#if DTYPE != 3
#error "8-bit kernels take DTYPE 3 (fp8)"
#endif

using Element = uint8_t;  // bits only: arithmetic happens in tensor cores and in fp32

constexpr int chunk_elements = 16;  // of one 16-byte vector

// Four e4m3, the first lowest. PTX ISA, cvt: .e4m3x2 destination, round to nearest even, saturating; the
// second source is the low half.
__device__ inline uint32_t pack4(float e0, float e1, float e2, float e3) {
  uint32_t packed;
  asm("{ .reg .b16 low, high;\n"
      "  cvt.rn.satfinite.e4m3x2.f32 low, %2, %1;\n"
      "  cvt.rn.satfinite.e4m3x2.f32 high, %4, %3;\n"
      "  mov.b32 %0, {low, high}; }"
      : "=r"(packed)
      : "f"(e0), "f"(e1), "f"(e2), "f"(e3));
  return packed;
}

// Two elements of O.
__device__ inline uint32_t pack2(float low, float high) { return pack2_bf16(low, high); }
