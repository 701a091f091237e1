// How many cycles and how much time one block took: the SMs' clock while a kernel ran, which the driver only
// tells with a delay. For kernels whose blocks all run side by side.
#pragma once

#include "lib/clock_span.h"

// Of the calling thread; only block 0's first one keeps anything.
class ClockSpan {
 public:
  __device__ ClockSpan() : start_(now()) {}

  __device__ void end(ClockReading* reading) const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    const ClockReading end = now();
    reading->cycles = end.cycles - start_.cycles;
    reading->nanoseconds = end.nanoseconds - start_.nanoseconds;
  }

 private:
  // Both at one moment: a warp that others hold up between the two readings tries again.
  __device__ static ClockReading now() {
    ClockReading best{};
    unsigned long long least = ~0ull;
    for (int attempt = 0; attempt < 64 && least > 100; ++attempt) {
      const unsigned long long before = nanoseconds();
      const long long at = cycles();
      const unsigned long long after = nanoseconds();
      if (after - before < least) {
        least = after - before;
        best = {at, after};
      }
    }
    return best;
  }
  __device__ static long long cycles() {
    long long value;
    asm volatile("mov.s64 %0, %%clock64;" : "=l"(value)::"memory");
    return value;
  }
  __device__ static unsigned long long nanoseconds() {
    unsigned long long value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
    return value;
  }

  ClockReading start_;
};
