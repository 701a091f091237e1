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

// Calls f(first, count) for the visible keys, at most a key a thread at a time; all threads call it together.
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
    const AttentionTensor& table = p.tensors[operand_block_table];
    if (!table.data) return static_cast<unsigned long long>(slices.kv) * p.kv_len + key;
    const AttentionStrides& k = p.tensors[operand_k].strides;
    const long long page = k.head / k.row, sequence = slices.q / p.heads;
    const int number = static_cast<const int*>(table.data)[sequence * table.strides.batch + key / page];
    return (static_cast<long long>(number) * p.kv_heads + slices.kv % p.kv_heads) * page + key % page;
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

// Of the backward pass, for every query row: LSE and delta = sum over its keys of P dP, in scratch[2 row].
extern "C" __global__ void __launch_bounds__(reference_threads)
    reference_backward_statistics(const ReferenceParams p) {
  __shared__ double scratch[reference_threads];
  const long long all = static_cast<long long>(p.batch) * p.heads * p.q_len;
  for (long long n = blockIdx.x; n < all; n += gridDim.x) {
    const ReferenceRow row(p, n);
    const double maximum = row.maximum(scratch);
    double sum = 0, weighted = 0;
    for_visible_keys(row.keys, [&](int first, int count) {
      if (int(threadIdx.x) >= count) return;
      const int key = first + threadIdx.x;
      const double weight = exp(row.score(key) - maximum);
      sum += weight;
      weighted += weight * dot(p, operand_d_o, row.q_row, operand_v, row.kv_row(key));
    });
    const auto add = [](double a, double b) { return a + b; };
    sum = over_block(sum, scratch, add);
    weighted = over_block(weighted, scratch, add);
    if (threadIdx.x == 0 && row.keys.count > 0) {
      p.scratch[2 * n] = maximum + log(sum);
      p.scratch[2 * n + 1] = weighted / sum;
    }
  }
}

// What a pair of a query and a key adds to dV (P) or, multiplied with q or k, to dK and dQ.
__device__ inline double pair_factor(const ReferenceParams& p, const ReferenceRow& row, int key) {
  const double probability = exp(row.score(key) - p.scratch[2 * row.q_row]);
  if (p.output == operand_d_v) return probability;
  const double d_p = dot(p, operand_d_o, row.q_row, operand_v, row.kv_row(key));
  return probability * (d_p - p.scratch[2 * row.q_row + 1]) / sqrt(static_cast<double>(p.head_dim));
}

// Adds count factors, one a thread, times rows row_of(0), row_of(1), ... of a tensor.
template <typename RowOf>
__device__ void add_rows(const ReferenceParams& p, OperandId id, double factor, int count, RowOf row_of,
                         double* scratch, double (&sums)[reference_columns]) {
  __syncthreads();
  scratch[threadIdx.x] = factor;
  __syncthreads();
  for (int t = 0; t < count; ++t)
    for (int part = 0; part < reference_columns; ++part)
      if (const int c = threadIdx.x + part * reference_threads; c < p.head_dim)
        sums[part] += scratch[t] * element(p, id, row_of(t), c);
}

// A row of dQ, over its keys; of dK or dV, over the queries of the group's heads that see the key.
extern "C" __global__ void __launch_bounds__(reference_threads) reference_backward(const ReferenceParams p) {
  __shared__ double scratch[reference_threads];
  const int thread = threadIdx.x;
  for (long long n = blockIdx.x; n < p.row_count; n += gridDim.x) {
    double sums[reference_columns] = {};
    if (p.output == operand_d_q) {
      const ReferenceRow row(p, p.rows[n]);
      for_visible_keys(row.keys, [&](int first, int count) {
        const double factor = thread < count ? pair_factor(p, row, first + thread) : 0.0;
        add_rows(
            p, operand_k, factor, count, [&](int t) { return row.kv_row(first + t); }, scratch, sums);
      });
    } else {
      const long long kv_slice = p.rows[n] / p.kv_len;
      const int key = static_cast<int>(p.rows[n] % p.kv_len), group = p.heads / p.kv_heads;
      const long long first_slice = kv_slice / p.kv_heads * p.heads + kv_slice % p.kv_heads * group;
      const IndexRange rows = seeing_queries(mask_of(p), {key, key + 1});
      const OperandId from = p.output == operand_d_v ? operand_d_o : operand_q;
      for (long long slice = first_slice; slice < first_slice + group; ++slice)
        for (int first = rows.first; first < rows.end; first += reference_threads) {
          const int count = min(reference_threads, rows.end - first);
          const long long q_row = slice * p.q_len + first;
          const double factor = thread < count ? pair_factor(p, ReferenceRow(p, q_row + thread), key) : 0.0;
          add_rows(
              p, from, factor, count, [&](int t) { return q_row + t; }, scratch, sums);
        }
    }
    for (int part = 0; part < reference_columns; ++part)
      if (const int c = thread + part * reference_threads; c < p.head_dim)
        p.expected[n * p.head_dim + c] = sums[part];
  }
}
