// Hints to the compiler.
#pragma once

// Hides a value's origin from the compiler, which would keep everything derived from it in registers over the
// whole K, V loop, and spill, instead of deriving it again.
template <typename Integer>
__device__ inline Integer rederive(Integer value) {
  asm volatile("" : "+r"(value));
  return value;
}

// Orders: `sum`, never negative, and all it was computed from are finished before what follows. An assembler
// that sees no use of a value moves a wait up in front of its computation; here it has to decide on it.
__device__ inline void finish_before(float sum) {
  asm volatile("{ .reg .pred negative; setp.lt.f32 negative, %0, 0f00000000; @negative trap; }" ::"f"(sum));
}
