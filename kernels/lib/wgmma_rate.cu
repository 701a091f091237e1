// How fast a card can do wgmma (Hopper), which flash3 multiplies with. The idea: two warpgroups an SM
// multiply the same random operands in shared memory again and again, the largest shape there is, and wait
// for nothing but each other's turn at the tensor cores.
#include "lib/clock_span.cuh"
#include "lib/random_operand.cuh"
#include "lib/tensor_rate.h"
#include "lib/wgmma.cuh"

extern __shared__ __align__(1024) unsigned char operands[];  // A of each warpgroup, then B; 128-byte rows

// PTX ISA, fence.proxy.async: what threads have stored becomes visible to the tensor cores.
__device__ void make_visible() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// `rounds` products of 64 x 256 a warpgroup, each with the whole of 128 bytes of the contraction. The sum is
// stored only when it has a value that it hardly ever has.
extern "C" __global__ void __launch_bounds__(tensor_rate_threads, 1)
    wgmma_rate(int rounds, float* sink, ClockReading* clock) {
  uint32_t* words = reinterpret_cast<uint32_t*>(operands);
  for (int i = threadIdx.x; i < wgmma_rate_smem_bytes / 4; i += tensor_rate_threads)
    words[i] = random_word(blockIdx.x, i);
  make_visible();
  __syncthreads();

  const auto base = static_cast<uint32_t>(__cvta_generic_to_shared(operands));
  const uint32_t warpgroup = threadIdx.x / 128;
  const uint64_t a = SwizzledPanel<128>::k_major(base + warpgroup * wgmma_rate_rows * wgmma_rate_row_bytes);
  const uint64_t b =
      SwizzledPanel<128>::k_major(base + wgmma_rate_warpgroups * wgmma_rate_rows * wgmma_rate_row_bytes);
  float c[wgmma_rate_columns / 8][4] = {};
  const ClockSpan span;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    wgmma_fence();
#pragma unroll
    for (int step = 0; step < wgmma_rate_row_bytes; step += 32)
      Wgmma<wgmma_rate_columns>::ss(c, advance(a, step), advance(b, step), 1);
    wgmma_commit();
  }
  wgmma_wait<0>();
  wgmma_pin(c);
  float sum = 0;
  for (int i = 0; i < wgmma_rate_columns / 8; ++i) sum += c[i][0] + c[i][1] + c[i][2] + c[i][3];
  if (sum == 0.12345678f) *sink = sum;
  span.end(clock);
}
