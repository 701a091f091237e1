// 2^x as softmax needs it.
#pragma once

// PTX ISA, ex2.approx.ftz.f32: 2^x by the special function unit; 2^-inf is 0, and so is what lies below
// 2^-126, which no probability misses.
__device__ inline float exp2_fast(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
