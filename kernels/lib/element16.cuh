// The 16-bit storage type of a kernel, chosen by DTYPE (1 fp16, 2 bf16), and its conversion from fp32.
#pragma once

#include <stdint.h>

#if DTYPE != 1 && DTYPE != 2
#error "tensor core kernels take DTYPE 1 (fp16) or 2 (bf16)"
#endif

using Element = uint16_t;  // bits only: arithmetic happens in tensor cores and in fp32

constexpr int chunk_elements = 8;  // of one 16-byte vector

// PTX ISA, cvt: .f16x2 / .bf16x2 destination, round to nearest even; the second source is the low half.
__device__ inline uint32_t pack2(float low, float high) {
  uint32_t packed;
#if DTYPE == 1
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#else
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
#endif
  return packed;
}

// PTX ISA, ex2.approx.ftz.f32: 2^x by the special function unit; 2^-inf is 0.
__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
