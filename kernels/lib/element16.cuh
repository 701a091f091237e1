// The 16-bit storage type of a kernel, chosen by DTYPE (1 fp16, 2 bf16), and its conversion from fp32.
#pragma once

#include <stdint.h>

#include "lib/exp2.cuh"
#include "lib/pack_bf16.cuh"

#if DTYPE != 1 && DTYPE != 2
#error "16-bit kernels take DTYPE 1 (fp16) or 2 (bf16); fp8 is lib/element8.cuh"
#endif

using Element = uint16_t;  // bits only: arithmetic happens in tensor cores and in fp32

constexpr int chunk_elements = 8;  // of one 16-byte vector

// PTX ISA, cvt: .f16x2 destination, round to nearest even; the second source is the low half. Or bf16's.
__device__ inline uint32_t pack2(float low, float high) {
#if DTYPE == 1
  uint32_t packed;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
#else
  return pack2_bf16(low, high);
#endif
}
