// Attention to start from: right and slow. A warp keeps a few rows of Q and O in registers, spread over its
// lanes, and takes the keys of a tile in shared memory one by one: no tensor cores, one exponential a lane.
//
// AttentionParams holds tensors (pointer and element strides, by id) and sizes. Every kernel is compiled with
// these macros, and with those of the JSON beside this file:
//   DTYPE     0 fp32, 1 fp16, 2 bf16, 3 fp8        HEAD_DIM  elements of a head
//   TILE_BR   rows of Q a block works on           TILE_BC   keys of a tile
//   CAUSAL    1: query i sees key j when j <= i + p.causal_offset
// Loads that bypass L1 (__ldcg) let counted bytes be compared with what the kernel means to read.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "attention_params.h"
#include "lib/tensor.cuh"

#if DTYPE == 1
using Element = __half;
#elif DTYPE == 2
using Element = __nv_bfloat16;
#else
#error "this kernel takes fp16 and bf16: supports.dtypes says so"
#endif

constexpr int lanes = 32;
constexpr int rows_a_warp = TILE_BR / WARPS;
constexpr int elements_a_lane = HEAD_DIM / lanes;
constexpr float log2_e = 1.44269504f;

__device__ float sum_over_warp(float x) {
  for (int offset = lanes / 2; offset > 0; offset /= 2) x += __shfl_xor_sync(0xFFFFFFFF, x, offset);
  return x;
}

// Keys that query `row` sees: the first so many.
__device__ int visible_keys(const AttentionParams& p, int row) {
  return CAUSAL ? max(0, min(p.kv_len, row + p.causal_offset + 1)) : p.kv_len;
}

// Rows of K or V into shared memory, 16 bytes at a time.
__device__ void load_tile(uint4* tile, const Element* source, long long row_stride, int rows) {
  constexpr int vectors = HEAD_DIM * int(sizeof(Element)) / int(sizeof(uint4));  // in a row
  for (int i = threadIdx.x; i < rows * vectors; i += WARPS * lanes) {
    const Element* const row = source + i / vectors * row_stride;
    tile[i] = __ldcg(reinterpret_cast<const uint4*>(row) + i % vectors);
  }
}

extern "C" __global__ void __launch_bounds__(WARPS* lanes)
    example_forward(const __grid_constant__ AttentionParams p) {
  extern __shared__ uint4 shared[];  // smem_bytes of the JSON: a tile of K, a tile of V
  Element* const k_tile = reinterpret_cast<Element*>(shared);
  Element* const v_tile = k_tile + TILE_BC * HEAD_DIM;
  const int head = blockIdx.y, batch = blockIdx.z;  // grid of the JSON
  const int kv_head = head / (p.heads / p.kv_heads);
  const int block_row = blockIdx.x * TILE_BR;
  const int row = block_row + int(threadIdx.x) / lanes * rows_a_warp;  // this warp's first
  const int lane = threadIdx.x % lanes;
  const Element* const q = slice_of<const Element>(p, operand_q, batch, head);
  const Element* const k = slice_of<const Element>(p, operand_k, batch, kv_head);
  const Element* const v = slice_of<const Element>(p, operand_v, batch, kv_head);
  Element* const o = slice_of<Element>(p, operand_o, batch, head);
  const long long q_stride = row_stride(p, operand_q), k_stride = row_stride(p, operand_k);
  const long long v_stride = row_stride(p, operand_v), o_stride = row_stride(p, operand_o);

  float q_part[rows_a_warp][elements_a_lane], o_part[rows_a_warp][elements_a_lane];
  float m[rows_a_warp], l[rows_a_warp];  // running maximum and sum of each row
  for (int r = 0; r < rows_a_warp; ++r) {
    m[r] = -INFINITY;
    l[r] = 0;
    for (int e = 0; e < elements_a_lane; ++e) {
      const bool inside = row + r < p.q_len;
      q_part[r][e] = inside ? float(q[(row + r) * q_stride + e * lanes + lane]) * p.scale * log2_e : 0;
      o_part[r][e] = 0;
    }
  }

  const int keys = visible_keys(p, min(block_row + TILE_BR, p.q_len) - 1);  // of the block's last row
  for (int key = 0; key < keys; key += TILE_BC) {
    const int count = min(TILE_BC, keys - key);
    __syncthreads();  // all warps are through with the tile before
    load_tile(reinterpret_cast<uint4*>(k_tile), k + key * k_stride, k_stride, count);
    load_tile(reinterpret_cast<uint4*>(v_tile), v + key * v_stride, v_stride, count);
    __syncthreads();
    for (int j = 0; j < count; ++j)
      for (int r = 0; r < rows_a_warp; ++r) {
        if (key + j >= visible_keys(p, row + r)) continue;  // the whole warp's decision
        float s = 0;
        for (int e = 0; e < elements_a_lane; ++e)
          s += q_part[r][e] * float(k_tile[j * HEAD_DIM + e * lanes + lane]);
        s = sum_over_warp(s);
        const float larger = fmaxf(m[r], s);
        const float rescale = exp2f(m[r] - larger), weight = exp2f(s - larger);
        m[r] = larger;
        l[r] = l[r] * rescale + weight;
        for (int e = 0; e < elements_a_lane; ++e)
          o_part[r][e] = o_part[r][e] * rescale + weight * float(v_tile[j * HEAD_DIM + e * lanes + lane]);
      }
  }

  for (int r = 0; r < rows_a_warp; ++r)
    for (int e = 0; e < elements_a_lane; ++e)
      if (row + r < p.q_len)
        o[(row + r) * o_stride + e * lanes + lane] =
            Element(l[r] > 0 ? o_part[r][e] / l[r] : 0.0f);  // 0 where a row sees no key
}
