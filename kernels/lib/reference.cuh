// Expected output rows in fp64, by pass: what src/problem/*_pass.cpp says on the host. One block of 256
// threads a row at a time, over any grid.
#pragma once

#include "lib/harness_params.h"
#include "lib/load_element.cuh"
#include "lib/visible_keys.h"

constexpr int reference_threads = 256;
constexpr int reference_columns = 4;  // of a thread: thread, thread + 256, ... of head_dim <= 1024

// Where a query's (batch, head) finds its keys.
struct ReferenceSlices {
  long long q, kv;
  __device__ ReferenceSlices(const ReferenceParams& p, long long q_slice)
      : q(q_slice), kv(q_slice / p.heads * p.kv_heads + q_slice % p.heads / (p.heads / p.kv_heads)) {}
};

__device__ inline AttentionMask mask_of(const ReferenceParams& p) {
  return {p.q_len, p.kv_len, p.kv_len - p.q_len, p.causal == 1};
}

// Element `column` of one row of a tensor.
__device__ inline double element(const ReferenceParams& p, OperandId id, unsigned long long row, int column) {
  return static_cast<double>(load_element(p.tensors[id].data, p.types[id], row * p.head_dim + column));
}

__device__ inline double dot(const ReferenceParams& p, OperandId a, unsigned long long a_row, OperandId b,
                             unsigned long long b_row) {
  double sum = 0;
  for (int c = 0; c < p.head_dim; ++c) sum += element(p, a, a_row, c) * element(p, b, b_row, c);
  return sum;
}

// What elements of a slice are multiplied by: 1 but in fp8.
__device__ inline double scale_of(const ReferenceParams& p, OperandId id, long long slice) {
  const void* const scales = p.tensors[id].data;
  return scales ? static_cast<double>(static_cast<const float*>(scales)[slice]) : 1.0;
}

template <typename Combine>
__device__ double over_block(double value, double* scratch, Combine combine) {
  __syncthreads();
  scratch[threadIdx.x] = value;
  for (int half = reference_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) scratch[threadIdx.x] = combine(scratch[threadIdx.x], scratch[threadIdx.x + half]);
  }
  __syncthreads();
  return scratch[0];
}

// Calls f(key, in_range) with a key a thread, all threads together, until the row's visible keys are through.
template <typename F>
__device__ void for_visible_keys(const KeyRanges& keys, F f) {
  for (int r = 0; r < keys.count; ++r)
    for (int first = keys.at[r].first; first < keys.at[r].end; first += reference_threads)
      f(first, min(reference_threads, keys.at[r].end - first));
}

// The scores of a row over its keys.
struct ReferenceRow {
  const ReferenceParams& p;
  ReferenceSlices slices;
  unsigned long long q_row;  // over all slices
  KeyRanges keys;
  double factor;

  __device__ ReferenceRow(const ReferenceParams& params, long long row)
      : p(params),
        slices(params, row / params.q_len),
        q_row(static_cast<unsigned long long>(row)),
        keys(visible_key_ranges(mask_of(params), static_cast<int>(row % params.q_len))),
        factor(scale_of(params, operand_q_scale, slices.q) * scale_of(params, operand_k_scale, slices.kv) /
               sqrt(static_cast<double>(params.head_dim))) {}

  __device__ unsigned long long kv_row(int key) const {
    return static_cast<unsigned long long>(slices.kv) * p.kv_len + key;
  }
  __device__ double score(int key) const { return dot(p, operand_q, q_row, operand_k, kv_row(key)) * factor; }
  __device__ double maximum(double* scratch) const {
    double largest = -INFINITY;
    for_visible_keys(keys, [&](int first, int count) {
      if (int(threadIdx.x) < count) largest = fmax(largest, score(first + threadIdx.x));
    });
    return over_block(largest, scratch, [](double a, double b) { return fmax(a, b); });
  }
};

// O = softmax(q K^T / sqrt(d)) V over the visible keys, zeros when there are none. Two passes, the maximum
// first: nothing is rescaled.
extern "C" __global__ void __launch_bounds__(reference_threads) reference_forward(const ReferenceParams p) {
  __shared__ double scratch[reference_threads];
  const int thread = threadIdx.x;
  for (long long n = blockIdx.x; n < p.row_count; n += gridDim.x) {
    const ReferenceRow row(p, p.rows[n]);
    const double maximum = row.maximum(scratch);
    double sum = 0;
    double output[reference_columns] = {};
    for_visible_keys(row.keys, [&](int first, int count) {
      __syncthreads();
      scratch[thread] = thread < count ? exp(row.score(first + thread) - maximum) : 0.0;
      __syncthreads();
      for (int t = 0; t < count; ++t) {
        sum += scratch[t];
        for (int part = 0; part < reference_columns; ++part)
          if (const int c = thread + part * reference_threads; c < p.head_dim)
            output[part] += scratch[t] * element(p, operand_v, row.kv_row(first + t), c);
      }
    });
    for (int part = 0; part < reference_columns; ++part)
      if (const int c = thread + part * reference_threads; c < p.head_dim)
        p.expected[n * p.head_dim + c] =
            row.keys.count > 0 ? output[part] * (scale_of(p, operand_v_scale, row.slices.kv) / sum) : 0.0;
  }
}
