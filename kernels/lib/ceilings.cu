// Kernels that wait for one resource only: memory, L2, shared memory, FMA pipes, exponentials. What they
// reach is the device's ceiling. Compiled as one file with no macros; sinks are written only for sums that
// hardly ever are, so that nothing can be left out.
#include "lib/ceilings.h"
#include "lib/clock_span.cuh"
#include "lib/random_value.h"

namespace {

constexpr unsigned unlikely = 0x5EEDF00Du;
constexpr int chunk_words = ceiling_threads * ceiling_in_flight;

// Reads and writes go in chunks of a block: `words` of a thread, all on their way at once.
struct Chunk {
  uint4 words[ceiling_in_flight];

  __device__ void load(const uint4* data, unsigned long long chunk) {
#pragma unroll
    for (int i = 0; i < ceiling_in_flight; ++i)
      words[i] = __ldcg(data + chunk * chunk_words + i * ceiling_threads + threadIdx.x);
  }
  __device__ void store(uint4* data, unsigned long long chunk) const {
#pragma unroll
    for (int i = 0; i < ceiling_in_flight; ++i)
      __stcg(data + chunk * chunk_words + i * ceiling_threads + threadIdx.x, words[i]);
  }
  __device__ unsigned bits() const {
    unsigned all = 0;
#pragma unroll
    for (int i = 0; i < ceiling_in_flight; ++i) all |= words[i].x | words[i].y | words[i].z | words[i].w;
    return all;
  }
};

__device__ float random_start(int chain) {
  return attnprof_random_value(1, chain,
                               blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x);
}

// `operation` on each of a thread's independent chains in turn, ceiling_steps times a round.
template <class Operation>
__device__ void run_chains(int rounds, float* sink, Operation operation) {
  float chains[ceiling_chains];
  for (int i = 0; i < ceiling_chains; ++i) chains[i] = random_start(i);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round)
#pragma unroll
    for (int step = 0; step < ceiling_steps; ++step)
#pragma unroll
      for (int i = 0; i < ceiling_chains; ++i) operation(chains[i]);
  float sum = 0;
  for (int i = 0; i < ceiling_chains; ++i) sum += chains[i];
  if (sum == 0.12345678f) *sink = sum;
}

}  // namespace

// All chunks, `rounds` times, past L1. Each block begins a round where another ended the last one: every SM
// reads all of the data.
extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    read_memory(const uint4* data, unsigned long long chunks, int rounds, unsigned* sink,
                ClockReading* clock) {
  const ClockSpan span;
  unsigned bits = 0;
  for (int round = 0; round < rounds; ++round)
    for (unsigned long long chunk = (blockIdx.x + static_cast<unsigned>(round)) % gridDim.x; chunk < chunks;
         chunk += gridDim.x) {
      Chunk words;
      words.load(data, chunk);
      bits |= words.bits();
    }
  if (bits == unlikely) *sink = bits;
  span.end(clock);
}

extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    write_memory(uint4* data, unsigned long long chunks, unsigned value, ClockReading* clock) {
  const ClockSpan span;
  Chunk words;
  for (int i = 0; i < ceiling_in_flight; ++i)
    words.words[i] = make_uint4(value + threadIdx.x, value, i, blockIdx.x);
  for (unsigned long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) words.store(data, chunk);
  span.end(clock);
}

extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    copy_memory(const uint4* source, uint4* target, unsigned long long chunks, ClockReading* clock) {
  const ClockSpan span;
  for (unsigned long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    Chunk words;
    words.load(source, chunk);
    words.store(target, chunk);
  }
  span.end(clock);
}

// Every warp reads 512 contiguous bytes at a time, the widest access without bank conflicts. The loads are of
// one address after another and wait for nothing; volatile, since ptxas merges equal ones otherwise.
extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    read_shared(int rounds, unsigned* sink, ClockReading* clock) {
  const ClockSpan span;
  __shared__ uint4 data[ceiling_smem_bytes / 16];
  constexpr int count = ceiling_smem_bytes / 16;
  for (int i = threadIdx.x; i < count; i += ceiling_threads) data[i] = make_uint4(i, 2 * i, 3 * i, 4 * i);
  __syncthreads();
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(data));
  unsigned bits = 0;
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int i = 0; i < ceiling_smem_reads; ++i) {
      uint4 word;
      const unsigned address = base + (threadIdx.x + i * ceiling_threads) % count * 16;
      asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
                   : "r"(address));
      bits |= word.x | word.y | word.z | word.w;
    }
  }
  if (bits == unlikely) *sink = bits;
  span.end(clock);
}

extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    multiply_add(int rounds, float* sink, ClockReading* clock) {
  const ClockSpan span;
  const float factor = 0.5f + 0.1f * random_start(100), offset = random_start(101);
  run_chains(rounds, sink, [&](float& x) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x) : "f"(factor), "f"(offset));
  });
  span.end(clock);
}

// x = 2^-x, again and again, is within (0, 1] from the second time on; the sign costs nothing.
extern "C" __global__ void __launch_bounds__(ceiling_threads, ceiling_blocks_per_sm)
    exponentials(int rounds, float* sink, ClockReading* clock) {
  const ClockSpan span;
  run_chains(rounds, sink, [](float& x) {
    asm volatile("{ .reg .f32 minus; neg.f32 minus, %0; ex2.approx.ftz.f32 %0, minus; }" : "+f"(x));
  });
  span.end(clock);
}

extern "C" __global__ void nothing() {}
