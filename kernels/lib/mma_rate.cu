// How fast a card can do mma.sync, which flash1 and flash2 multiply with. The idea: every warp adds products
// of registers to registers, so that neither memory nor exponentials can be in the way.
#include "lib/mma.cuh"
#include "lib/mma_rate.h"
#include "lib/random_value.h"

constexpr int operands = 4;  // of A, and of B: neighbouring products differ in both, as in a real one
static_assert(operands * operands == mma_rate_chains);

// Two elements near N(0, 1): power, and with it the clock, hangs on the bits that change. Other ones in every
// warp.
__device__ uint32_t random_pair(unsigned tensor, int index) {
  const auto at = 2 * (static_cast<unsigned long long>(index) * mma_rate_threads + threadIdx.x);
  return pack2(attnprof_random_value(1, tensor, at), attnprof_random_value(1, tensor, at + 1));
}

// `rounds` x mma_rate_chains products a warp. The sum is stored only when it has a value that it hardly ever
// has: nothing can be left out, and nothing is written.
extern "C" __global__ void __launch_bounds__(mma_rate_threads, mma_rate_blocks_per_sm)
    mma_rate(int rounds, float* sink) {
  uint32_t a[operands][4], b[operands][2];
  for (int i = 0; i < operands; ++i) {
    for (int j = 0; j < 4; ++j) a[i][j] = random_pair(0, 4 * i + j);
    for (int j = 0; j < 2; ++j) b[i][j] = random_pair(1, 2 * i + j);
  }
  float c[mma_rate_chains][4] = {};
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int i = 0; i < mma_rate_chains; ++i)
      mma_16x8x16(c[i], a[i % operands], b[i / operands][0], b[i / operands][1]);
  float sum = 0;
  for (int i = 0; i < mma_rate_chains; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == 0.12345678f) *sink = sum;
}
