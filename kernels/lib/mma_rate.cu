// How fast a card can do mma.sync, which flash1 and flash2 multiply with. The idea: every warp adds products
// of registers to registers, so that neither memory nor exponentials can be in the way.
#include "lib/clock_span.cuh"
#include "lib/random_operand.cuh"
#include "lib/tensor_rate.h"
#if DTYPE != 3
#include "lib/mma.cuh"
#endif

constexpr int chains = mma_rate_chains(DTYPE == 3);
// Neighbouring products differ in both operands, as in a real one.
constexpr int a_count = 4, b_count = chains / a_count;

__device__ void product(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2]) {
#if DTYPE == 3
  // PTX ISA, mma.sync.aligned.m16n8k32 with e4m3 operands: 8192 FLOPs.
  asm volatile(
      "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
  mma_16x8x16(c, a, b[0], b[1]);
#endif
}

// `rounds` x chains products a warp. The sum is stored only when it has a value that it hardly ever
// has: nothing can be left out, and nothing is written.
extern "C" __global__ void __launch_bounds__(tensor_rate_threads, mma_rate_blocks_per_sm)
    mma_rate(int rounds, float* sink, ClockReading* clock) {
  uint32_t a[a_count][4], b[b_count][2];
#pragma unroll
  for (int i = 0; i < 4 * a_count; ++i)
    a[i / 4][i % 4] = random_word(0, i * tensor_rate_threads + threadIdx.x);
#pragma unroll
  for (int i = 0; i < 2 * b_count; ++i)
    b[i / 2][i % 2] = random_word(1, i * tensor_rate_threads + threadIdx.x);
  float c[chains][4] = {};
  const ClockSpan span;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int i = 0; i < chains; ++i) product(c[i], a[i % a_count], b[i / a_count]);
  float sum = 0;
  for (int i = 0; i < chains; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == 0.12345678f) *sink = sum;
  span.end(clock);
}
