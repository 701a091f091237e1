// The storage type of the operands (macro DTYPE) and its 16-byte vectors, the unit in which kernels touch
// global memory: always past L1, so that what an SM receives is what the schedule says.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#if DTYPE == 0
using Element = float;
#elif DTYPE == 1
using Element = __half;
#elif DTYPE == 2
using Element = __nv_bfloat16;
#else
#error "DTYPE is 0 (fp32), 1 (fp16) or 2 (bf16) here; fp8 is lib/element8.cuh"
#endif

constexpr int vector_width = 16 / int(sizeof(Element));  // elements of a 16-byte vector

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(__half x) { return __half2float(x); }
__device__ inline float to_float(__nv_bfloat16 x) { return __bfloat162float(x); }

template <typename T>
__device__ inline T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline __half from_float<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 from_float<__nv_bfloat16>(float x) {
  return __float2bfloat16_rn(x);
}

struct alignas(16) ElementVector {
  Element e[vector_width];
};

// `address` must be 16-byte aligned. Two neighbouring lanes make one whole 32-byte sector.
__device__ inline uint4 load_vector(const Element* address) {
  return __ldcg(reinterpret_cast<const uint4*>(address));
}
__device__ inline void store_vector(Element* address, uint4 vector) {
  __stcg(reinterpret_cast<uint4*>(address), vector);
}

__device__ inline void unpack(uint4 vector, float (&values)[vector_width]) {
  const ElementVector elements = *reinterpret_cast<const ElementVector*>(&vector);
#pragma unroll
  for (int e = 0; e < vector_width; ++e) values[e] = to_float(elements.e[e]);
}

__device__ inline uint4 pack(const float (&values)[vector_width]) {
  ElementVector elements;
#pragma unroll
  for (int e = 0; e < vector_width; ++e) elements.e[e] = from_float<Element>(values[e]);
  return *reinterpret_cast<const uint4*>(&elements);
}
