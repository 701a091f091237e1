// One hint to the compiler.
#pragma once

// Hides a value's origin from the compiler, which would keep everything derived from it in registers over the
// whole K, V loop, and spill, instead of deriving it again.
template <typename Integer>
__device__ inline Integer rederive(Integer value) {
  asm volatile("" : "+r"(value));
  return value;
}
