// What one warp does with its M blocks of 16 query rows: S = Q K^T, mask, O += P V, O to shared memory. S and
// O are accumulators in the layout of mma.cuh: [16-row block][8-column block][4].
#pragma once

#include "accumulators.cuh"
#include "mma.cuh"
#include "shared_tile.cuh"

// Where in a tile a lane's row address for ldmatrix_x4 is, for the 16 x 16 corner at (0, 0).
// A fragments (Q) and transposed B fragments (V): matrices 0, 1 below each other, 2, 3 to their right.
template <int d>
__device__ inline uint32_t lane_offset_down(int lane) {
  return TileLayout<d>::offset(lane % 16, lane / 16);
}
// B fragments whose rows are columns of the product (K): matrices 0, 1 beside each other, 2, 3 below.
template <int d>
__device__ inline uint32_t lane_offset_right(int lane) {
  return TileLayout<d>::offset(lane % 8 + lane / 16 * 8, lane / 8 % 2);
}

// Q's A fragments of k step `step`: rows row .. row + 16 M of a tile.
template <int M, int d>
__device__ inline void load_q(uint32_t (&q)[M][4], uint32_t q_rows, int step) {
#pragma unroll
  for (int m = 0; m < M; ++m)
    ldmatrix_x4(q[m], TileLayout<d>::right(q_rows, 2 * step) + m * 16 * TileLayout<d>::row_bytes);
}

// S += Q K^T over one k step of 16 columns of d. K: tile address + lane_offset_right.
template <int M, int Bc, int d>
__device__ inline void add_q_k(float (&S)[M][Bc / 8][4], const uint32_t (&q)[M][4], uint32_t K, int step) {
#pragma unroll
  for (int n = 0; n < Bc / 16; ++n) {
    uint32_t k[4];
    ldmatrix_x4(k, TileLayout<d>::right(K, 2 * step) + n * 16 * TileLayout<d>::row_bytes);
#pragma unroll
    for (int m = 0; m < M; ++m) {
      mma_16x8x16(S[m][2 * n], q[m], k[0], k[1]);
      mma_16x8x16(S[m][2 * n + 1], q[m], k[2], k[3]);
    }
  }
}

// O += P V, P as A fragments of 16 keys each. V: tile address + lane_offset_down.
template <int M, int Bc, int d>
__device__ inline void add_p_v(float (&O)[M][d / 8][4], const uint32_t (&P)[M][Bc / 16][4], uint32_t V) {
#pragma unroll
  for (int step = 0; step < Bc / 16; ++step)
#pragma unroll
    for (int n = 0; n < d / 16; ++n) {
      uint32_t v[4];
      ldmatrix_x4_trans(v, TileLayout<d>::right(V, 2 * n) + step * 16 * TileLayout<d>::row_bytes);
#pragma unroll
      for (int m = 0; m < M; ++m) {
        mma_16x8x16(O[m][2 * n], P[m][step], v[0], v[1]);
        mma_16x8x16(O[m][2 * n + 1], P[m][step], v[2], v[3]);
      }
    }
}

// The same for the warp's M blocks of rows.
template <bool causal, int M, int blocks>
__device__ inline void mask_scores(float (&S)[M][blocks][4], int first_keys, int most_keys, int lane_index) {
  const int lane = rederive(lane_index);
#pragma unroll
  for (int m = 0; m < M; ++m) mask_scores<causal>(S[m], first_keys + m * 16, most_keys, lane);
}

// P = e^(S - m) of one row, as half of its A fragments: two accumulator blocks have the layout of one
// fragment. Returns the lane's part of P's row sum.
template <int blocks>
__device__ inline float exponentials(uint32_t (&P)[blocks / 2][4], const float (&S)[blocks][4], int half,
                                     float c, float shift) {
  float sum = 0.0f;
#pragma unroll
  for (int n = 0; n < blocks; ++n) {
    const float low = exp2_fast(fmaf(S[n][half * 2], c, -shift));
    const float high = exp2_fast(fmaf(S[n][half * 2 + 1], c, -shift));
    sum += low + high;
    P[n / 2][n % 2 * 2 + half] = pack2(low, high);
  }
  return sum;
}

// One row of O into a tile, in the element type.
template <int d>
__device__ inline void put_row(unsigned char* tile, int row, const float (&O)[d / 8][4], int half, int lane) {
#pragma unroll
  for (int n = 0; n < d / 8; ++n)
    *reinterpret_cast<uint32_t*>(tile + TileLayout<d>::offset(row, n) + lane % 4 * 4) =
        pack2(O[n][half * 2], O[n][half * 2 + 1]);
}
