// One block's product of an M x depth by a depth x N factor on the FMA pipes, in fp32: both factors pass
// through shared memory in double-buffered slices of one sector a row, each element read from global memory
// once.
#pragma once

#include "lib/element.cuh"
#include "lib/fma_blocking.h"

// Rows of a row-major matrix in global memory, from the tile's first element; rows from `rows` on are zero
// and cause no traffic.
struct MatrixRows {
  const Element* data;
  int pitch;  // elements; rows * pitch is below 2^31
  int rows;
};

// B is given as N rows of depth (`transposed`, like K) or as depth rows of N (like V).
template <int M, int N, bool transposed>
class FmaProduct {
 public:
  static constexpr int slice = fma_depth(sizeof(Element));
  static constexpr int threads = fma_threads(M, N), blocks_per_sm = fma_blocks_per_sm(M, N);

  // Adds A B over [0, depth); depth is a multiple of `slice`. Ends with a barrier.
  __device__ void add(MatrixRows a, MatrixRows b, int depth, float* shared) {
    if (depth == 0) return;
    fetch(a, b);
    stash(shared);
    __syncthreads();
    int stage = 0;
    for (int k = slice; k < depth; k += slice) {
      a.data += slice;
      b.data += transposed ? slice : slice * b.pitch;
      if (!transposed) b.rows -= slice;
      fetch(a, b);
      multiply(shared + stage * stage_floats);
      stage ^= 1;
      stash(shared + stage * stage_floats);
      __syncthreads();
    }
    multiply(shared + stage * stage_floats);
    __syncthreads();
  }

  // Writes factor * product over rows x cols, cols a multiple of 16.
  __device__ void store(Element* out, long long pitch, int rows, int cols, float factor,
                        float* shared) const {
    auto* product = reinterpret_cast<Element*>(shared);
    if (owner())
#pragma unroll
      for (int i = 0; i < square; ++i)
#pragma unroll
        for (int j = 0; j < square; j += 4) {
          Quad quad;
#pragma unroll
          for (int e = 0; e < 4; ++e) quad.e[e] = from_float<Element>(factor * sums_[i][j + e]);
          *reinterpret_cast<Quad*>(product + place(i, M, y()) * N + place(j, N, x())) = quad;
        }
    __syncthreads();
    for (int u = threadIdx.x; u < M * N / vector_width; u += threads) {
      const int row = u / (N / vector_width), col = u % (N / vector_width) * vector_width;
      if (row < rows && col < cols)
        store_vector(out + row * pitch + col, *reinterpret_cast<const uint4*>(product + row * N + col));
    }
  }

 private:
  static constexpr int square = fma_square(M, N), owners = fma_owners(M, N);
  static constexpr int a_pitch = M + fma_pad, b_pitch = N + fma_pad;
  static constexpr int stage_floats = slice * (a_pitch + b_pitch);
  static constexpr int a_vectors = M * slice / vector_width, b_vectors = N * slice / vector_width;

  struct alignas(4 * sizeof(Element)) Quad {
    Element e[4];
  };

  // A thread owns runs of four rows and columns; with squares of 8 the second run lies half a tile away, so
  // that neighbouring lanes read neighbouring float4.
  __device__ static int place(int i, int size, int position) {
    return i / 4 * (size / (square / 4)) + position * 4 + i % 4;
  }
  __device__ static int x() { return threadIdx.x % (N / square); }
  __device__ static int y() { return threadIdx.x / (N / square); }
  __device__ static bool owner() { return owners == threads || threadIdx.x < owners; }

  // Where vector u lies in a factor of rows of depth (two lanes a sector, 16 rows a warp) and of rows of N.
  __device__ static int deep_row(int u) { return u / 2; }
  __device__ static int deep_col(int u) { return u % 2 * vector_width; }
  __device__ static int flat_row(int u) { return u / (N / vector_width); }
  __device__ static int flat_col(int u) { return u % (N / vector_width) * vector_width; }

  // Vectors of this thread, in registers until the stage they go to is free.
  __device__ void fetch(const MatrixRows& a, const MatrixRows& b) {
#pragma unroll
    for (int i = 0, u = threadIdx.x; i < a_count; ++i, u += threads)
      a_[i] = load(a, deep_row(u), deep_col(u), u < a_vectors);
#pragma unroll
    for (int i = 0, u = threadIdx.x; i < b_count; ++i, u += threads)
      b_[i] = transposed ? load(b, deep_row(u), deep_col(u), u < b_vectors)
                         : load(b, flat_row(u), flat_col(u), u < b_vectors);
  }

  __device__ static uint4 load(const MatrixRows& from, int row, int col, bool wanted) {
    if (!wanted || row >= from.rows) return make_uint4(0, 0, 0, 0);
    return load_vector(from.data + row * from.pitch + col);
  }

  // Both factors lie in shared memory with the contraction index outside.
  __device__ void stash(float* stage) const {
#pragma unroll
    for (int i = 0, u = threadIdx.x; i < a_count; ++i, u += threads)
      if (u < a_vectors) stash_deep(stage, a_pitch, deep_row(u), deep_col(u), a_[i]);
    float* const b_stage = stage + slice * a_pitch;
#pragma unroll
    for (int i = 0, u = threadIdx.x; i < b_count; ++i, u += threads) {
      if (u >= b_vectors) continue;
      if (transposed)
        stash_deep(b_stage, b_pitch, deep_row(u), deep_col(u), b_[i]);
      else
        stash_flat(b_stage + flat_row(u) * b_pitch + flat_col(u), b_[i]);
    }
  }

  __device__ static void stash_deep(float* stage, int pitch, int row, int col, uint4 vector) {
    float values[vector_width];
    unpack(vector, values);
#pragma unroll
    for (int e = 0; e < vector_width; ++e) stage[(col + e) * pitch + row] = values[e];
  }

  __device__ static void stash_flat(float* stage, uint4 vector) {
    float values[vector_width];
    unpack(vector, values);
#pragma unroll
    for (int e = 0; e < vector_width; e += 4)
      *reinterpret_cast<float4*>(stage + e) =
          make_float4(values[e], values[e + 1], values[e + 2], values[e + 3]);
  }

  __device__ void multiply(const float* stage) {
    if (!owner()) return;
    const float* const b_stage = stage + slice * a_pitch;
#pragma unroll
    for (int k = 0; k < slice; ++k) {
      float a[square], b[square];
#pragma unroll
      for (int i = 0; i < square; i += 4) {
        *reinterpret_cast<float4*>(a + i) =
            *reinterpret_cast<const float4*>(stage + k * a_pitch + place(i, M, y()));
        *reinterpret_cast<float4*>(b + i) =
            *reinterpret_cast<const float4*>(b_stage + k * b_pitch + place(i, N, x()));
      }
#pragma unroll
      for (int i = 0; i < square; ++i)
#pragma unroll
        for (int j = 0; j < square; ++j) sums_[i][j] = fmaf(a[i], b[j], sums_[i][j]);
    }
  }

  static constexpr int a_count = (a_vectors + threads - 1) / threads;
  static constexpr int b_count = (b_vectors + threads - 1) / threads;
  uint4 a_[a_count], b_[b_count];
  float sums_[square][square] = {};
};
