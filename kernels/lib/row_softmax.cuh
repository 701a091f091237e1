// Softmax of rows that stay in registers: S is read once and P written once, 16 bytes a lane.
#pragma once

#include "attention_params.h"
#include "lib/element.cuh"
#include "lib/exp2.cuh"
#include "lib/score_rows.h"

// What one row does: reads columns [0, read) of S, of which [0, visible) count, and writes columns [0, write)
// of P, zeros beyond `visible`. read and write are multiples of 16, visible <= read.
struct SoftmaxRow {
  const Element* s = nullptr;
  Element* p = nullptr;
  int visible = 0;
  int read = 0;
  int write = 0;
};

// The warps of a block in groups, one group a row.
struct RowGroup {
  int warps;       // that share a row
  int first_warp;  // of this thread's group
  int thread;      // position in the group
  unsigned row;    // over all rows of all slices

  __device__ RowGroup(int kv_len)
      : warps(softmax_warps_per_row(kv_len, sizeof(Element))),
        first_warp(int(threadIdx.x) / 32 / warps * warps),
        thread(int(threadIdx.x) - first_warp * 32),
        row(blockIdx.x * softmax_rows_per_block(kv_len, sizeof(Element)) + first_warp / warps) {}

  // Combines `value` over the group; `partial` has one place a warp of the block and is used once.
  template <typename Combine>
  __device__ float reduce(float value, float neutral, float* partial, Combine combine) const {
    const auto over_warp = [&] {
#pragma unroll
      for (int lanes = 16; lanes > 0; lanes /= 2)
        value = combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, lanes));
    };
    over_warp();
    if (warps == 1) return value;
    const int lane = threadIdx.x % 32;
    if (lane == 0) partial[threadIdx.x / 32] = value;
    __syncthreads();
    value = lane < warps ? partial[first_warp + lane] : neutral;
    over_warp();
    return value;
  }
};

// Keeps the compiler from carrying the unpacked values of one pass over the row to the next: they would not
// fit in the registers of a block of 1024 threads.
__device__ inline void forget_unpacked(uint4 (&kept)[softmax_vectors]) {
#pragma unroll
  for (int i = 0; i < softmax_vectors; ++i)
    asm volatile("" : "+r"(kept[i].x), "+r"(kept[i].y), "+r"(kept[i].z), "+r"(kept[i].w));
}

// Every thread of the block must call it: a group without a row passes an empty SoftmaxRow. P is
// softmax(scale * S); a row that sees nothing becomes zeros.
__device__ inline void softmax_row(const RowGroup& group, const SoftmaxRow& row, float scale) {
  __shared__ float partial_max[32], partial_sum[32];
  const int stride = group.warps * 32 * vector_width;
  const int first = group.thread * vector_width;
  uint4 kept[softmax_vectors];
  float values[vector_width];
  float largest = -INFINITY;
#pragma unroll
  for (int i = 0; i < softmax_vectors; ++i) {
    const int column = first + i * stride;
    kept[i] = column < row.read ? load_vector(row.s + column) : make_uint4(0, 0, 0, 0);
  }
#pragma unroll
  for (int i = 0; i < softmax_vectors; ++i) {
    const int column = first + i * stride;
    if (column >= row.visible) break;
    unpack(kept[i], values);
#pragma unroll
    for (int e = 0; e < vector_width; ++e)
      if (column + e < row.visible) largest = fmaxf(largest, values[e]);
  }
  forget_unpacked(kept);
  largest = group.reduce(largest, -INFINITY, partial_max, [](float a, float b) { return fmaxf(a, b); });

  // e^(scale (s - largest)) = 2^(factor s - shift); the exponential is evaluated again for the output, which
  // is cheaper than the registers its fp32 values would take.
  const float factor = scale * 1.4426950408889634f;
  const float shift = row.visible > 0 ? factor * largest : 0.0f;
  float sum = 0;
#pragma unroll
  for (int i = 0; i < softmax_vectors; ++i) {
    const int column = first + i * stride;
    if (column >= row.visible) break;
    unpack(kept[i], values);
#pragma unroll
    for (int e = 0; e < vector_width; ++e)
      if (column + e < row.visible) sum += exp2_fast(fmaf(values[e], factor, -shift));
  }
  forget_unpacked(kept);
  sum = group.reduce(sum, 0.0f, partial_sum, [](float a, float b) { return a + b; });
  const float inverse = sum > 0 ? 1.0f / sum : 0.0f;
#pragma unroll
  for (int i = 0; i < softmax_vectors; ++i) {
    const int column = first + i * stride;
    if (column >= row.write) break;
    unpack(kept[i], values);
#pragma unroll
    for (int e = 0; e < vector_width; ++e)
      values[e] = column + e < row.visible ? exp2_fast(fmaf(values[e], factor, -shift)) * inverse : 0.0f;
    store_vector(row.p + column, pack(values));
  }
}
