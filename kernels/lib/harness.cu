// Kernels around the measured ones: inputs, cache eviction, the fp64 references, and copies and fills of
// known size for the counters' self-test. Compiled as one file with no macros; every kernel strides over its
// data, so any grid is right.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "lib/harness_params.h"
#include "lib/load_element.cuh"
#include "lib/random_value.h"
#include "lib/reference.cuh"

namespace {

__device__ unsigned long long first_index() {
  return blockIdx.x * static_cast<unsigned long long>(blockDim.x) + threadIdx.x;
}
__device__ unsigned long long index_stride() {
  return static_cast<unsigned long long>(gridDim.x) * blockDim.x;
}

__device__ void store(void* data, int dtype, unsigned long long index, float value) {
  if (dtype == 0)
    static_cast<float*>(data)[index] = value;
  else if (dtype == 1)
    static_cast<__half*>(data)[index] = __float2half_rn(value);
  else if (dtype == 2)
    static_cast<__nv_bfloat16*>(data)[index] = __float2bfloat16_rn(value);
  else if (dtype == 3)
    static_cast<__nv_fp8_storage_t*>(data)[index] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  else
    static_cast<int*>(data)[index] = __float2int_rn(value);
}

}  // namespace

// data[i] = element i of that kind of input (random_value.h), rounded to dtype.
extern "C" __global__ void fill_random(void* data, unsigned long long elements, int dtype,
                                       unsigned long long seed, unsigned tensor, int input) {
  for (unsigned long long i = first_index(); i < elements; i += index_stride())
    store(data, dtype, i,
          dtype == 3 ? attnprof_fp8_value(seed, tensor, i, input)
                     : attnprof_input_value(seed, tensor, i, input));
}

// The scales of fp8 heads, one a slice.
extern "C" __global__ void fill_scales(float* scales, unsigned long long slices, unsigned long long seed,
                                       unsigned tensor, int input) {
  for (unsigned long long i = first_index(); i < slices; i += index_stride())
    scales[i] = attnprof_fp8_scale(seed, tensor, i, input);
}

// Reads `vectors` 16-byte words past L1, so that L2 holds them and nothing else. The sum is stored only when
// it has a value the buffer never gives: the reads cannot be left out, and no line becomes dirty.
extern "C" __global__ void evict_read(const uint4* data, unsigned long long vectors, unsigned* sink) {
  unsigned sum = 0;
  for (unsigned long long i = first_index(); i < vectors; i += index_stride()) {
    const uint4 word = __ldcg(data + i);
    sum |= word.x | word.y | word.z | word.w;
  }
  if (sum == 0x5EEDF00Du) *sink = sum;
}

// Keeps the stream busy for `nanoseconds` without touching memory, while the host enqueues what follows.
extern "C" __global__ void spin(unsigned long long nanoseconds) {
  unsigned long long start, now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do {
    __nanosleep(200);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  } while (now - start < nanoseconds);
}

// gathered[n, c] = data[rows[n], c] as fp32, rows counted over all slices.
extern "C" __global__ void gather_rows(const void* data, int dtype, const long long* rows,
                                       long long row_count, int columns, float* gathered) {
  const unsigned long long elements = static_cast<unsigned long long>(row_count) * columns;
  for (unsigned long long i = first_index(); i < elements; i += index_stride())
    gathered[i] =
        load_element(data, dtype, static_cast<unsigned long long>(rows[i / columns]) * columns + i % columns);
}

// Adds to *count how many elements are infinite or NaN: a poisoned element that was never written shows.
extern "C" __global__ void count_not_finite(const void* data, unsigned long long elements, int dtype,
                                            unsigned long long* count) {
  unsigned long long found = 0;
  for (unsigned long long i = first_index(); i < elements; i += index_stride())
    found += !isfinite(load_element(data, dtype, i));
  if (found > 0) atomicAdd(count, found);
}

// The counters' self-test: exactly 16 * vectors bytes read and as many written.
extern "C" __global__ void copy_plain(const uint4* source, uint4* target, unsigned long long vectors) {
  for (unsigned long long i = first_index(); i < vectors; i += index_stride())
    __stcg(target + i, __ldcg(source + i));
}

// Writes exactly 16 * vectors bytes and reads none.
extern "C" __global__ void fill_plain(uint4* target, unsigned long long vectors, unsigned value) {
  for (unsigned long long i = first_index(); i < vectors; i += index_stride())
    __stcg(target + i, make_uint4(value, value, value, value));
}

// The same copy by the bulk-copy engine (TMA without a tensor map), `chunks` of copy_bulk_chunk_bytes. One
// warp's first thread of a block drives it. Does nothing before compute capability 9.0, where the engine does
// not exist.
extern "C" __global__ void copy_bulk(const char* source, char* target, unsigned long long chunks) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  __shared__ alignas(128) char stage[copy_bulk_chunk_bytes];
  __shared__ alignas(8) unsigned long long arrived;
  if (threadIdx.x != 0) return;
  const unsigned stage_at = static_cast<unsigned>(__cvta_generic_to_shared(stage));
  const unsigned barrier_at = static_cast<unsigned>(__cvta_generic_to_shared(&arrived));
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier_at) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  unsigned phase = 0;
  for (unsigned long long chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x, phase ^= 1) {
    const char* from = source + chunk * copy_bulk_chunk_bytes;
    char* to = target + chunk * copy_bulk_chunk_bytes;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier_at),
                 "r"(copy_bulk_chunk_bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            stage_at),
        "l"(__cvta_generic_to_global(from)), "r"(copy_bulk_chunk_bytes), "r"(barrier_at)
        : "memory");
    unsigned ready = 0;
    while (!ready)
      asm volatile(
          "{ .reg .pred done;\n"
          "  mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
          "  selp.u32 %0, 1, 0, done; }"
          : "=r"(ready)
          : "r"(barrier_at), "r"(phase)
          : "memory");
    asm volatile(
        "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
        "r"(stage_at), "r"(copy_bulk_chunk_bytes)
        : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");  // the stage is free and the bytes are written
  }
#endif
}
