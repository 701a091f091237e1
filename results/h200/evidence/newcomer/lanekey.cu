// A lane takes a key: scores need no shuffle each, a softmax step is made once for 32 keys. K rows are padded
// by 16 bytes, so that 16-byte reads of eight lanes touch all banks once. K_READS = 2 reads K's tile twice
// (for the gate).
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "attention_params.h"

#if DTYPE == 1
using Element = __half;
using Pair = __half2;
__device__ float2 floats(Pair x) { return __half22float2(x); }
__device__ Pair pair(float a, float b) { return __floats2half2_rn(a, b); }
#elif DTYPE == 2
using Element = __nv_bfloat16;
using Pair = __nv_bfloat162;
__device__ float2 floats(Pair x) { return __bfloat1622float2(x); }
__device__ Pair pair(float a, float b) { return __floats2bfloat162_rn(a, b); }
#else
#error "fp16 and bf16"
#endif
#ifndef K_READS
#define K_READS 1
#endif
#ifndef BUG  // 1: the last key is forgotten, 2: writes behind O
#define BUG 0
#endif

constexpr int lanes = 32;
constexpr int R = TILE_BR / WARPS;      // rows a warp
constexpr int P = HEAD_DIM / 64;        // pairs a lane
constexpr int K_STRIDE = HEAD_DIM + 8;  // elements
constexpr float log2_e = 1.44269504f;
static_assert(TILE_BR % WARPS == 0 && TILE_BC % lanes == 0 && HEAD_DIM % 64 == 0);

__device__ uint4 load16(const void* p) {  // volatile: never merged or dropped
  uint4 x;
  asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "l"(p));
  return x;
}

__device__ int visible_keys(const AttentionParams& p, int row) {
  return CAUSAL ? max(0, min(p.kv_len, row + p.causal_offset + 1)) : p.kv_len;
}

__device__ void load_tile(Element* tile, int stride, const Element* source, long long row_stride, int rows) {
  constexpr int vectors = HEAD_DIM / 8;
  for (int i = threadIdx.x; i < TILE_BC * vectors; i += WARPS * lanes) {
    const int r = i / vectors, c = i % vectors * 8;
    const uint4 x = r < rows ? load16(source + r * row_stride + c) : make_uint4(0, 0, 0, 0);
    *reinterpret_cast<uint4*>(tile + r * stride + c) = x;
  }
}

extern "C" __global__ void __launch_bounds__(WARPS* lanes)
    lanekey_forward(const __grid_constant__ AttentionParams p) {
  extern __shared__ uint4 shared[];
  float* const q_tile = reinterpret_cast<float*>(shared);                           // TILE_BR x HEAD_DIM
  Element* const k_tile = reinterpret_cast<Element*>(q_tile + TILE_BR * HEAD_DIM);  // TILE_BC x K_STRIDE
  Element* const v_tile = k_tile + TILE_BC * K_STRIDE;                              // TILE_BC x HEAD_DIM
  const int head = blockIdx.y, batch = blockIdx.z, kv_head = head / (p.heads / p.kv_heads);
  const int block_row = blockIdx.x * TILE_BR, warp = threadIdx.x / lanes, lane = threadIdx.x % lanes;
  const int row = block_row + warp * R;
  const Element* const q =
      static_cast<const Element*>(p.q) + batch * p.q_strides.batch + head * p.q_strides.head;
  const Element* const k =
      static_cast<const Element*>(p.k) + batch * p.k_strides.batch + kv_head * p.k_strides.head;
  const Element* const v =
      static_cast<const Element*>(p.v) + batch * p.v_strides.batch + kv_head * p.v_strides.head;
  Element* const o = static_cast<Element*>(p.o) + batch * p.o_strides.batch + head * p.o_strides.head;

  for (int i = threadIdx.x; i < TILE_BR * HEAD_DIM / 8; i += WARPS * lanes) {
    const int r = i / (HEAD_DIM / 8), c = i % (HEAD_DIM / 8) * 8;
    const uint4 x =
        block_row + r < p.q_len ? load16(q + (block_row + r) * p.q_strides.row + c) : make_uint4(0, 0, 0, 0);
    const Pair* const xs = reinterpret_cast<const Pair*>(&x);
    for (int e = 0; e < 4; ++e) {
      const float2 f = floats(xs[e]);
      q_tile[r * HEAD_DIM + c + 2 * e] = f.x * p.scale * log2_e;
      q_tile[r * HEAD_DIM + c + 2 * e + 1] = f.y * p.scale * log2_e;
    }
  }

  float2 o_part[R][P];
  float m[R], l[R];
  for (int r = 0; r < R; ++r) {
    m[r] = -INFINITY;
    l[r] = 0;
    for (int e = 0; e < P; ++e) o_part[r][e] = make_float2(0, 0);
  }

  const int keys = visible_keys(p, min(block_row + TILE_BR, p.q_len) - 1) - (BUG == 1);
  for (int key = 0; key < keys; key += TILE_BC) {
    const int count = min(TILE_BC, keys - key);
    for (int read = 0; read < K_READS; ++read) {
      __syncthreads();
      load_tile(k_tile, K_STRIDE, k + key * p.k_strides.row, p.k_strides.row, count);
    }
    load_tile(v_tile, HEAD_DIM, v + key * p.v_strides.row, p.v_strides.row, count);
    __syncthreads();
    for (int j0 = 0; j0 < count; j0 += lanes) {
      float s[R] = {};
      for (int c = 0; c < HEAD_DIM; c += 8) {
        const uint4 x = *reinterpret_cast<const uint4*>(k_tile + (j0 + lane) * K_STRIDE + c);
        const Pair* const xs = reinterpret_cast<const Pair*>(&x);
        const float2 a = floats(xs[0]), b = floats(xs[1]), d = floats(xs[2]), f = floats(xs[3]);
#pragma unroll
        for (int r = 0; r < R; ++r) {
          const float4* const qs = reinterpret_cast<const float4*>(q_tile + (warp * R + r) * HEAD_DIM + c);
          const float4 y = qs[0], z = qs[1];
          s[r] +=
              y.x * a.x + y.y * a.y + y.z * b.x + y.w * b.y + z.x * d.x + z.y * d.y + z.z * f.x + z.w * f.y;
        }
      }
#pragma unroll
      for (int r = 0; r < R; ++r) {
        if (key + j0 + lane >= visible_keys(p, row + r)) s[r] = -INFINITY;
        float larger = s[r];
        for (int off = 16; off > 0; off /= 2) larger = fmaxf(larger, __shfl_xor_sync(~0u, larger, off));
        larger = fmaxf(larger, m[r]);
        const float base = larger == -INFINITY ? 0 : larger;  // no key seen so far
        const float rescale = exp2f(m[r] - base);
        s[r] = exp2f(s[r] - base);
        m[r] = larger;
        l[r] = l[r] * rescale + s[r];  // this lane's keys
        for (int e = 0; e < P; ++e) o_part[r][e].x *= rescale, o_part[r][e].y *= rescale;
      }
      for (int j = 0; j < lanes; ++j) {
        float2 value[P];
        for (int e = 0; e < P; ++e)
          value[e] = floats(*reinterpret_cast<const Pair*>(v_tile + (j0 + j) * HEAD_DIM + e * 64 + 2 * lane));
#pragma unroll
        for (int r = 0; r < R; ++r) {
          const float weight = __shfl_sync(~0u, s[r], j);
          for (int e = 0; e < P; ++e) {
            o_part[r][e].x += weight * value[e].x;
            o_part[r][e].y += weight * value[e].y;
          }
        }
      }
    }
  }

  if (BUG == 2 && blockIdx.x == 0 && blockIdx.y == 0 && blockIdx.z == 0 && threadIdx.x == 0)
    static_cast<Element*>(p.o)[(long long)p.batch * p.heads * p.q_len * HEAD_DIM + 3] = Element(1.0f);
  for (int r = 0; r < R; ++r) {
    for (int off = 16; off > 0; off /= 2) l[r] += __shfl_xor_sync(~0u, l[r], off);
    if (row + r >= p.q_len) continue;
    const float inverse = l[r] > 0 ? 1 / l[r] : 0;
    for (int e = 0; e < P; ++e)
      *reinterpret_cast<Pair*>(o + (row + r) * p.o_strides.row + e * 64 + 2 * lane) =
          pair(o_part[r][e].x * inverse, o_part[r][e].y * inverse);
  }
}
