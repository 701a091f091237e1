// FlashAttention-2 forward (Dao 2023, Algorithm 1). The idea: a block keeps its Q tile and the O accumulator
// on chip and passes over K, V once. In the counters: S and P move no byte, O is written once, K and V are
// read Tr times a head, and with causal masking the tiles above the diagonal are neither read nor multiplied.
#include "attention_params.h"
#include "lib/kv_view.cuh"
#include "lib/tensor.cuh"
#include "lib/visible_keys.cuh"
#include "lib/warp_tile.cuh"

#ifndef WARP_ROWS  // query rows of a warp, 16 or 32: with 32, each K, V fragment serves two products
#define WARP_ROWS 16
#endif
#ifndef STAGES  // K, V tiles in shared memory
#define STAGES 1
#endif
#ifndef MIN_BLOCKS  // blocks an SM that registers must leave room for
#define MIN_BLOCKS 1
#endif
#ifndef Q_IN_REGISTERS  // keep Q's fragments for the whole block, or load them again for every K tile
#define Q_IN_REGISTERS (WARP_ROWS * HEAD_DIM <= 1024)
#endif

namespace {

constexpr int d = HEAD_DIM, Br = TILE_BR, Bc = TILE_BC;
constexpr int M = WARP_ROWS / 16;
constexpr int threads = Br / WARP_ROWS * 32;
constexpr bool q_in_registers = Q_IN_REGISTERS;
constexpr uint32_t tile_bytes = Bc * d * sizeof(Element);

static_assert(Br % WARP_ROWS == 0 && WARP_ROWS % 16 == 0 && Bc % 16 == 0 && d % 16 == 0);

// Running statistics of the rows a thread has a part of.
struct Rows {
  float m[M][2];
  float l[M][2];  // this thread's columns only; summed over the quad at the end
};

// Online softmax: P from S; l and O move to the new maximum. c is scale * log2(e), so that e^x is one exp2.
__device__ inline void softmax(uint32_t (&P)[M][Bc / 16][4], const float (&S)[M][Bc / 8][4],
                               float (&O)[M][d / 8][4], Rows& rows, float c) {
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float m_new = row_max(S[m], half, rows.m[m][half]);
      // A row that has seen no key yet keeps m = -inf; subtracting it would give NaN.
      const float shift = CAUSAL && m_new == -INFINITY ? 0.0f : m_new * c;
      const float correction = exp2_fast(fmaf(rows.m[m][half], c, -shift));
      rows.m[m][half] = m_new;
      rows.l[m][half] = rows.l[m][half] * correction + exponentials(P[m], S[m], half, c, shift);
      scale_row(O[m], half, correction);
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    flash2(const __grid_constant__ AttentionParams p) {
  extern __shared__ __align__(
      128) unsigned char shared[];  // Q tile (later O), STAGES K tiles, STAGES V tiles, the block table
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int warp_row = thread / 32 * WARP_ROWS;
  // Longest first where rows differ in length.
  const int row = static_cast<int>(CAUSAL ? gridDim.x - 1 - blockIdx.x : blockIdx.x) * Br;
  const int q_rows = min(Br, p.q_len - row);
  const long long head = blockIdx.y, batch = blockIdx.z, kv_head = head / (p.heads / p.kv_heads);
  const long long q_stride = row_stride(p, operand_q), o_stride = row_stride(p, operand_o);
  const auto* q = slice_of<const Element>(p, operand_q, batch, head) + row * q_stride;
  const uint32_t Q = shared_address(shared);
  const uint32_t K = Q + Br * d * sizeof(Element);
  const uint32_t V = K + STAGES * tile_bytes;
  const uint32_t q_tile = Q + warp_row * TileLayout<d>::row_bytes + lane_offset_down<d>(lane);
  const uint32_t k_tile = K + lane_offset_right<d>(lane), v_tile = V + lane_offset_down<d>(lane);

  const int keys = visible_keys_of_tile(p, row, Br);
  const int Tc = (keys + Bc - 1) / Bc;
  int* const pages = reinterpret_cast<int*>(shared + Br * d * sizeof(Element) + 2 * STAGES * tile_bytes);
#ifdef PAGE_SIZE
  load_pages(p, batch, min(Tc * Bc, p.kv_len), threads, pages);
#endif
  const KvRows k(p, operand_k, batch, kv_head, pages), v(p, operand_v, batch, kv_head, pages);
  const auto load_k = [&](int j) {
    if (j < Tc) k.copy<Bc, d, threads>(K + j % STAGES * tile_bytes, j * Bc, p.kv_len - j * Bc, thread);
    cp_async_commit();
  };
  const auto load_v = [&](int j) {
    if (j < Tc) v.copy<Bc, d, threads>(V + j % STAGES * tile_bytes, j * Bc, p.kv_len - j * Bc, thread);
    cp_async_commit();
  };

  // K_0 V_0 K_1 V_1 ... is one sequence of copies, 2 STAGES - 1 ahead of the products.
  constexpr int in_flight = 2 * STAGES - 2;
  if (Tc > 0) TileCopy<Br, d, threads>::start(Q, q, q_stride, q_rows, thread);
#pragma unroll
  for (int item = 0; item <= in_flight; ++item) item % 2 == 0 ? load_k(item / 2) : load_v(item / 2);

  uint32_t q_fragments[q_in_registers ? d / 16 : 1][M][4];
  if (q_in_registers) {
    cp_async_wait<in_flight>();
    __syncthreads();
#pragma unroll
    for (int step = 0; step < (q_in_registers ? d / 16 : 1); ++step)
      load_q<M, d>(q_fragments[step], q_tile, step);
  }

  float O[M][d / 8][4] = {};
  Rows rows;
#pragma unroll
  for (int i = 0; i < M * 2; ++i) rows.m[i / 2][i % 2] = -INFINITY, rows.l[i / 2][i % 2] = 0.0f;
  const float c = p.scale * 1.4426950408889634f;
  // Keys that the warp's first row sees, and so each of its rows.
  const int first_keys = unclamped_visible_keys(p, row + warp_row);

  for (int j = 0; j < Tc; ++j) {
    float S[M][Bc / 8][4] = {};
    cp_async_wait<in_flight>();
    __syncthreads();  // K_j is there for all, and nobody reads V_{j-1} any more
    load_v(j + STAGES - 1);
    const uint32_t K_j = rederive(k_tile) + j % STAGES * tile_bytes, q_again = rederive(q_tile);
#pragma unroll
    for (int step = 0; step < d / 16; ++step) {
      uint32_t fragment[M][4];
      if (!q_in_registers) load_q<M, d>(fragment, q_again, step);
      add_q_k<M, Bc, d>(S, q_in_registers ? q_fragments[q_in_registers ? step : 0] : fragment, K_j, step);
    }
    if (min(first_keys, p.kv_len) < (j + 1) * Bc)
      mask_scores<CAUSAL>(S, first_keys - j * Bc, p.kv_len - j * Bc, lane);
    uint32_t P[M][Bc / 16][4];
    softmax(P, S, O, rows, c);
    cp_async_wait<in_flight>();
    __syncthreads();  // V_j is there for all, and nobody reads K_j any more
    load_k(j + STAGES);
    add_p_v<M, Bc, d>(O, P, rederive(v_tile) + j % STAGES * tile_bytes);
  }

  // A warp's rows of O go through its rows of the Q tile, which no other warp reads.
  __syncwarp();
#pragma unroll
  for (int m = 0; m < M; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float l = quad_sum(rows.l[m][half]);
      scale_row(O[m], half, l > 0.0f ? 1.0f / l : 0.0f);
      put_row<d>(shared, warp_row + m * 16 + half * 8 + lane / 4, O[m], half, lane);
    }
  __syncwarp();
  auto* o = slice_of<Element>(p, operand_o, batch, head) + (row + warp_row) * o_stride;
  store_warp_rows<WARP_ROWS, d>(o, o_stride, shared, warp_row, q_rows - warp_row, lane);
}
