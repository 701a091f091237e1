// Kernels around the measured ones: inputs, cache eviction, the fp64 reference, and copies and fills of known
// size for the counters' self-test. Compiled as one file with no macros; every kernel strides over its data,
// so any grid is right.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "lib/harness_params.h"
#include "lib/random_value.h"

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
  else
    static_cast<__nv_fp8_storage_t*>(data)[index] = __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
}

__device__ float load(const void* data, int dtype, unsigned long long index) {
  if (dtype == 0) return static_cast<const float*>(data)[index];
  if (dtype == 1) return __half2float(static_cast<const __half*>(data)[index]);
  if (dtype == 2) return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
  // Every e4m3 number is an fp16 number.
  const __nv_fp8_storage_t element = static_cast<const __nv_fp8_storage_t*>(data)[index];
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(element, __NV_E4M3)));
}

__device__ double dot(const ReferenceParams& p, unsigned long long q_at, unsigned long long k_at) {
  double sum = 0;
  for (int c = 0; c < p.head_dim; ++c)
    sum +=
        static_cast<double>(load(p.q, p.dtype, q_at + c)) * static_cast<double>(load(p.k, p.dtype, k_at + c));
  return sum;
}

__device__ double scale_of(const float* scales, long long slice) {
  return scales ? static_cast<double>(scales[slice]) : 1.0;
}

constexpr int reference_threads = 256;

__device__ double block_max(double value, double* scratch) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (int half = reference_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] = fmax(scratch[threadIdx.x], scratch[threadIdx.x + half]);
  }
  __syncthreads();
  return scratch[0];
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

// Expected output rows in fp64, one block of 256 threads a row at a time: softmax(q K^T / sqrt(d)) V over the
// visible keys, zeros when there are none. Two passes, the maximum first: nothing is rescaled.
extern "C" __global__ void __launch_bounds__(reference_threads) reference_rows(const ReferenceParams p) {
  __shared__ double scratch[reference_threads];
  const int thread = threadIdx.x;
  for (long long n = blockIdx.x; n < p.row_count; n += gridDim.x) {
    const long long slice = p.rows[n] / p.q_len;
    const long long row = p.rows[n] % p.q_len;
    const long long kv_slice = slice / p.heads * p.kv_heads + slice % p.heads / (p.heads / p.kv_heads);
    const unsigned long long q_at = static_cast<unsigned long long>(p.rows[n]) * p.head_dim;
    const unsigned long long kv_at = static_cast<unsigned long long>(kv_slice) * p.kv_len * p.head_dim;
    const double scale =
        scale_of(p.q_scale, slice) * scale_of(p.k_scale, kv_slice) / sqrt(static_cast<double>(p.head_dim));
    const long long visible = p.causal ? row + p.kv_len - p.q_len + 1 : p.kv_len;
    const long long keys = visible < 0 ? 0 : visible < p.kv_len ? visible : p.kv_len;

    double maximum = -INFINITY;
    for (long long j = thread; j < keys; j += reference_threads)
      maximum = fmax(maximum, dot(p, q_at, kv_at + j * p.head_dim) * scale);
    maximum = block_max(maximum, scratch);

    double sum = 0;
    double output[4] = {0, 0, 0, 0};  // columns thread, thread + 256, ... of head_dim <= 1024
    for (long long first = 0; first < keys; first += reference_threads) {
      const long long j = first + thread;
      __syncthreads();
      scratch[thread] = j < keys ? exp(dot(p, q_at, kv_at + j * p.head_dim) * scale - maximum) : 0.0;
      __syncthreads();
      const int count = keys - first < reference_threads ? static_cast<int>(keys - first) : reference_threads;
      for (int t = 0; t < count; ++t) {
        const unsigned long long v_at = kv_at + (first + t) * p.head_dim;
        sum += scratch[t];
        for (int part = 0; part < 4; ++part) {
          const int c = thread + part * reference_threads;
          if (c < p.head_dim) output[part] += scratch[t] * static_cast<double>(load(p.v, p.dtype, v_at + c));
        }
      }
    }
    for (int part = 0; part < 4; ++part) {
      const int c = thread + part * reference_threads;
      if (c < p.head_dim)
        p.expected[n * p.head_dim + c] =
            keys > 0 ? output[part] * (scale_of(p.v_scale, kv_slice) / sum) : 0.0;
    }
  }
}

// gathered[n, c] = data[rows[n], c] as fp32, rows counted over all slices.
extern "C" __global__ void gather_rows(const void* data, int dtype, const long long* rows,
                                       long long row_count, int columns, float* gathered) {
  const unsigned long long elements = static_cast<unsigned long long>(row_count) * columns;
  for (unsigned long long i = first_index(); i < elements; i += index_stride())
    gathered[i] =
        load(data, dtype, static_cast<unsigned long long>(rows[i / columns]) * columns + i % columns);
}

// Adds to *count how many elements are infinite or NaN: a poisoned element that was never written shows.
extern "C" __global__ void count_not_finite(const void* data, unsigned long long elements, int dtype,
                                            unsigned long long* count) {
  unsigned long long found = 0;
  for (unsigned long long i = first_index(); i < elements; i += index_stride())
    found += !isfinite(load(data, dtype, i));
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
