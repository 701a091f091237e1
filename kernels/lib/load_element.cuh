// Elements of a type that is known when a kernel runs: 0 fp32, 1 fp16, 2 bf16, 3 e4m3, 4 int32.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__device__ inline float load_element(const void* data, int type, unsigned long long index) {
  if (type == 0) return static_cast<const float*>(data)[index];
  if (type == 1) return __half2float(static_cast<const __half*>(data)[index]);
  if (type == 2) return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[index]);
  if (type == 4) return static_cast<float>(static_cast<const int*>(data)[index]);
  // Every e4m3 number is an fp16 number.
  const __nv_fp8_storage_t element = static_cast<const __nv_fp8_storage_t*>(data)[index];
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(element, __NV_E4M3)));
}
