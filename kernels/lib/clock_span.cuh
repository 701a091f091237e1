// How many cycles and how much time one block took: the SMs' clock while a kernel ran, which the driver only
// tells with a delay. For kernels whose blocks all run side by side.
#pragma once

#include "lib/clock_span.h"

// Of the calling thread; only block 0's first one keeps anything.
struct ClockSpan {
  long long cycles = now_cycles();
  unsigned long long nanoseconds = now_nanoseconds();

  __device__ void end(ClockReading* reading) const {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    reading->nanoseconds = now_nanoseconds() - nanoseconds;
    reading->cycles = now_cycles() - cycles;
  }

 private:
  __device__ static long long now_cycles() {
    long long value;
    asm volatile("mov.s64 %0, %%clock64;" : "=l"(value)::"memory");
    return value;
  }
  __device__ static unsigned long long now_nanoseconds() {
    unsigned long long value;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(value)::"memory");
    return value;
  }
};
