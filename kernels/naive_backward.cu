// The backward pass on the FMA pipes (Dao 2023, Algorithm 2, without tensor cores). The idea: a block keeps a
// K, V tile and its gradients on chip and passes over the queries that see it, S and P made again from LSE,
// so no N x N value moves; dQ, to which every block adds, is summed by atomics in fp32 and converted at the
// end. The counters show dQ as reductions, four bytes an element for each tile of keys, and no tensor FLOPs.
#include "attention_params.h"
#include "lib/element.cuh"
#include "lib/naive_backward.h"
#include "lib/score_rows.h"
#include "lib/tensor.cuh"
#include "lib/visible_keys.cuh"

namespace {

constexpr int d = HEAD_DIM, Br = TILE_BR, Bc = TILE_BC;
constexpr int threads = naive_backward_threads;
constexpr int vectors = d / vector_width;  // of a row
constexpr float log2_e = 1.4426950408889634f;

// In the order of Variant::workspace (src/variants/naive_backward.hpp).
enum Workspace : int { workspace_s, workspace_p, workspace_delta, workspace_d_q };

// The row over all slices that a warp works on; false where there is none.
__device__ bool row_of_warp(const AttentionParams& p, unsigned& row) {
  row = blockIdx.x * naive_rows_per_block + threadIdx.x / 32;
  return row < unsigned(p.batch) * p.heads * p.q_len;
}

template <typename Combine>
__device__ float over_warp(float value, Combine combine) {
  for (int lanes = 16; lanes > 0; lanes /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, lanes));
  return value;
}
__device__ float sum(float a, float b) { return a + b; }

// Rows [0, rows) of a tile of `tile_rows` as fp32 in shared memory, zeros from there on.
template <int tile_rows>
__device__ void load_tile(float* tile, const Element* from, long long stride, int rows) {
  for (int i = threadIdx.x; i < tile_rows * vectors; i += threads) {
    const int row = i / vectors, col = i % vectors * vector_width;
    float values[vector_width] = {};
    if (row < rows) unpack(load_vector(from + row * stride + col), values);
    for (int e = 0; e < vector_width; ++e) tile[row * (d + 1) + col + e] = values[e];
  }
}

__device__ float dot(const float* a, const float* b) {
  float sum = 0;
#pragma unroll 8
  for (int c = 0; c < d; ++c) sum = fmaf(a[c], b[c], sum);
  return sum;
}

__device__ void store_tile(Element* to, long long stride, const float* tile, int rows) {
  for (int i = threadIdx.x; i < rows * vectors; i += threads) {
    const int row = i / vectors, col = i % vectors * vector_width;
    float values[vector_width];
    for (int e = 0; e < vector_width; ++e) values[e] = tile[row * d + col + e];
    store_vector(to + row * stride + col, pack(values));
  }
}

}  // namespace

// Of the forward pass, before the operation: LSE of a row of S, a warp a row.
extern "C" __global__ void __launch_bounds__(naive_backward_threads)
    naive_lse(const __grid_constant__ AttentionParams p) {
  unsigned row;
  if (!row_of_warp(p, row)) return;
  const int keys = visible_keys(p, int(row % p.q_len)), lane = threadIdx.x % 32;
  const Element* const s =
      workspace_of<const Element>(p, workspace_s) + static_cast<long long>(row) * score_pitch(p.kv_len);
  float largest = -INFINITY;
  for (int j = lane; j < keys; j += 32) largest = fmaxf(largest, to_float(s[j]));
  largest = over_warp(largest, [](float a, float b) { return fmaxf(a, b); });
  float total = 0;
  for (int j = lane; j < keys; j += 32) total += expf(to_float(s[j]) - largest);
  total = over_warp(total, sum);
  if (lane == 0)
    static_cast<float*>(p.tensors[operand_lse].data)[row] = keys > 0 ? largest + logf(total) : -INFINITY;
}

// delta = rowsum(dO o O), and dQ's sums start at zero: a warp a row, a block a sector of delta.
extern "C" __global__ void __launch_bounds__(naive_backward_threads)
    naive_delta(const __grid_constant__ AttentionParams p) {
  __shared__ float deltas[naive_rows_per_block];
  unsigned row;
  const bool there = row_of_warp(p, row);
  const int lane = threadIdx.x % 32;
  if (there) {
    const auto* o = static_cast<const Element*>(p.tensors[operand_o].data) + static_cast<long long>(row) * d;
    const auto* d_o =
        static_cast<const Element*>(p.tensors[operand_d_o].data) + static_cast<long long>(row) * d;
    float delta = 0;
    for (int i = lane; i < vectors; i += 32) {
      float a[vector_width], b[vector_width];
      unpack(load_vector(o + i * vector_width), a);
      unpack(load_vector(d_o + i * vector_width), b);
      for (int e = 0; e < vector_width; ++e) delta = fmaf(a[e], b[e], delta);
    }
    delta = over_warp(delta, sum);
    if (lane == 0) deltas[threadIdx.x / 32] = delta;
    auto* d_q =
        reinterpret_cast<float4*>(workspace_of<float>(p, workspace_d_q) + static_cast<long long>(row) * d);
    for (int i = lane; i < d / 4; i += 32) __stcg(d_q + i, make_float4(0, 0, 0, 0));
  }
  __syncthreads();
  const unsigned mine = blockIdx.x * naive_rows_per_block + threadIdx.x;
  if (threadIdx.x < naive_rows_per_block && mine < unsigned(p.batch) * p.heads * p.q_len)
    __stcg(workspace_of<float>(p, workspace_delta) + mine, deltas[threadIdx.x]);
}

// One block a tile of keys of a kv head: its dK and dV, and its part of dQ.
extern "C" __global__ void __launch_bounds__(naive_backward_threads)
    naive_backward(const __grid_constant__ AttentionParams p) {
  extern __shared__ float shared[];
  float* const K = shared;
  float* const V = K + Bc * (d + 1);
  float* const Q = V + Bc * (d + 1);
  float* const dO = Q + Br * (d + 1);
  float* const P = dO + Br * (d + 1);
  float* const dS = P + Br * (Bc + 1);
  float* const dK = dS + Br * (Bc + 1);
  float* const dV = dK + Bc * d;
  float* const lse = dV + Bc * d;
  float* const delta = lse + Br;

  const int key = int(blockIdx.x) * Bc, keys = min(Bc, p.kv_len - key), thread = threadIdx.x;
  const int kv_head = blockIdx.y, batch = blockIdx.z, group = p.heads / p.kv_heads;
  const long long q_stride = row_stride(p, operand_q), k_stride = row_stride(p, operand_k);
  const long long v_stride = row_stride(p, operand_v), d_o_stride = row_stride(p, operand_d_o);
  load_tile<Bc>(K, slice_of<const Element>(p, operand_k, batch, kv_head) + key * k_stride, k_stride, keys);
  load_tile<Bc>(V, slice_of<const Element>(p, operand_v, batch, kv_head) + key * v_stride, v_stride, keys);
  for (int i = thread; i < 2 * Bc * d; i += threads) dK[i] = 0;  // and dV, which follows

  const int first_row = first_seeing_query(p, key) / Br * Br;
  for (int head = kv_head * group; head < (kv_head + 1) * group; ++head) {
    const long long slice = static_cast<long long>(batch) * p.heads + head;
    const float* const lse_of = static_cast<const float*>(p.tensors[operand_lse].data) + slice * p.q_len;
    const float* const delta_of = workspace_of<const float>(p, workspace_delta) + slice * p.q_len;
    float* const d_q = workspace_of<float>(p, workspace_d_q) + slice * p.q_len * d;
    for (int row = first_row; row < p.q_len; row += Br) {
      const int rows = min(Br, p.q_len - row);
      __syncthreads();  // nobody reads the rows before any more
      load_tile<Br>(Q, slice_of<const Element>(p, operand_q, batch, head) + row * q_stride, q_stride, rows);
      load_tile<Br>(dO, slice_of<const Element>(p, operand_d_o, batch, head) + row * d_o_stride, d_o_stride,
                    rows);
      for (int i = thread; i < rows; i += threads) {
        lse[i] = __ldcg(lse_of + row + i);
        delta[i] = __ldcg(delta_of + row + i);
      }
      __syncthreads();
      for (int e = thread; e < Br * Bc; e += threads) {
        const int i = e / Bc, j = e % Bc;
        const bool seen = i < rows && key + j < visible_keys(p, row + i);
        float probability = 0, gradient = 0;
        if (seen) {
          probability = exp2f((dot(Q + i * (d + 1), K + j * (d + 1)) * p.scale - lse[i]) * log2_e);
          gradient = probability * (dot(dO + i * (d + 1), V + j * (d + 1)) - delta[i]) * p.scale;
        }
        P[i * (Bc + 1) + j] = probability;
        dS[i * (Bc + 1) + j] = gradient;
      }
      __syncthreads();
      for (int e = thread; e < Bc * d; e += threads) {
        const int j = e / d, c = e % d;
        float of_k = dK[e], of_v = dV[e];
        for (int i = 0; i < Br; ++i) {
          of_k = fmaf(dS[i * (Bc + 1) + j], Q[i * (d + 1) + c], of_k);
          of_v = fmaf(P[i * (Bc + 1) + j], dO[i * (d + 1) + c], of_v);
        }
        dK[e] = of_k, dV[e] = of_v;
      }
      for (int e = thread; e < rows * d; e += threads) {
        const int i = e / d, c = e % d;
        float part = 0;
        for (int j = 0; j < Bc; ++j) part = fmaf(dS[i * (Bc + 1) + j], K[j * (d + 1) + c], part);
        atomicAdd(d_q + static_cast<long long>(row + i) * d + c, part);
      }
    }
  }
  __syncthreads();
  const long long d_k_stride = row_stride(p, operand_d_k), d_v_stride = row_stride(p, operand_d_v);
  store_tile(slice_of<Element>(p, operand_d_k, batch, kv_head) + key * d_k_stride, d_k_stride, dK, keys);
  store_tile(slice_of<Element>(p, operand_d_v, batch, kv_head) + key * d_v_stride, d_v_stride, dV, keys);
}

// dQ from its sums: a warp a row, four elements a lane, so that neighbouring lanes read whole sectors.
extern "C" __global__ void __launch_bounds__(naive_backward_threads)
    naive_convert_d_q(const __grid_constant__ AttentionParams p) {
  struct alignas(4 * sizeof(Element)) Four {
    Element e[4];
  };
  unsigned row;
  if (!row_of_warp(p, row)) return;
  const auto* const sums = reinterpret_cast<const float4*>(workspace_of<const float>(p, workspace_d_q) +
                                                           static_cast<long long>(row) * d);
  auto* const d_q = reinterpret_cast<Four*>(static_cast<Element*>(p.tensors[operand_d_q].data) +
                                            static_cast<long long>(row) * d);
  for (int i = threadIdx.x % 32; i < d / 4; i += 32) {
    const float4 four = __ldcg(sums + i);
    d_q[i] = {from_float<Element>(four.x), from_float<Element>(four.y), from_float<Element>(four.z),
              from_float<Element>(four.w)};
  }
}
