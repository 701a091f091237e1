// fp32 accumulators of tensor core products, mma.sync and wgmma alike: [8-column block][4] of one warp's 16
// rows; with g = lane / 4 and t = lane % 4 a lane has (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1). A
// row is named by its half: 0 for row g, 1 for row g + 8.
#pragma once

// Scores of keys that a row does not see become -inf. Of this tile's keys, the first of the 16 rows sees
// `first_keys` (causal: each further row one more), and no row sees more than `most_keys`.
template <bool causal, int blocks>
__device__ inline void mask_scores(float (&S)[blocks][4], int first_keys, int most_keys, int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = half * 8 + lane / 4;
    const int keys = (causal ? min(first_keys + row, most_keys) : most_keys) - lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < blocks; ++n)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (n * 8 + e >= keys) S[n][half * 2 + e] = -INFINITY;
  }
}

// Reductions over the four lanes that share a row.
__device__ inline float quad_max(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}

// The largest score of one row (half: 0 for row g, 1 for row g + 8) and m_old.
template <int blocks>
__device__ inline float row_max(const float (&S)[blocks][4], int half, float m_old) {
  float m = m_old;
#pragma unroll
  for (int n = 0; n < blocks; ++n) m = fmaxf(m, fmaxf(S[n][half * 2], S[n][half * 2 + 1]));
  return quad_max(m);
}

// One row of O times `factor`.
template <int blocks>
__device__ inline void scale_row(float (&O)[blocks][4], int half, float factor) {
#pragma unroll
  for (int n = 0; n < blocks; ++n) {
    O[n][half * 2] *= factor;
    O[n][half * 2 + 1] *= factor;
  }
}
