// FlashAttention forward (Dao 2022, Algorithm 1). The idea: K, V tiles outside and Q tiles inside, so each K,
// V tile is read once and S, P never leave the chip. In the counters: O (fp32), l and m travel to device
// memory and back in each of the Tc passes over Q, and one block a (batch, head) leaves SMs idle at small
// batches.
#include "attention_params.h"
#include "lib/tensor.cuh"
#include "lib/visible_keys.cuh"
#include "lib/warp_tile.cuh"

namespace {

constexpr int d = HEAD_DIM, Br = TILE_BR, Bc = TILE_BC;
constexpr int warp_rows = 16;
constexpr int threads = Br / warp_rows * 32;
constexpr uint32_t kv_bytes = Bc * d * sizeof(Element), q_bytes = Br * d * sizeof(Element);

static_assert(Br % 16 == 0 && Bc % 16 == 0 && d % 16 == 0);

// A lane's place in a 16-row tile of the workspace: rows g and g + 8, columns 2t and 2t + 1 of each 8-column
// block, so that four lanes cover a 32-byte sector of O and eight rows one of l or m.
struct Workspace {
  float* O;  // [q_len, d] of this slice
  float* l;  // [q_len]
  float* m;  // [q_len], maximum of Q K^T, not scaled

  __device__ void load(float (&o)[d / 8][4], int half, int row, int column) const {
#pragma unroll
    for (int n = 0; n < d / 8; ++n) {
      const float2 pair =
          __ldcg(reinterpret_cast<const float2*>(O + row * static_cast<long long>(d) + n * 8 + column));
      o[n][half * 2] = pair.x, o[n][half * 2 + 1] = pair.y;
    }
  }
  __device__ void store(const float (&o)[d / 8][4], int half, int row, int column) const {
#pragma unroll
    for (int n = 0; n < d / 8; ++n)
      __stcg(reinterpret_cast<float2*>(O + row * static_cast<long long>(d) + n * 8 + column),
             make_float2(o[n][half * 2], o[n][half * 2 + 1]));
  }
};

// Zeros for rows that see no key at all: [0, rows).
__device__ inline void clear_rows(Element* o, long long row_stride, int rows) {
  constexpr int chunks = d / chunk_elements;
  for (int index = static_cast<int>(threadIdx.x); index < rows * chunks; index += threads)
    __stcg(reinterpret_cast<uint4*>(o + index / chunks * row_stride + index % chunks * chunk_elements),
           make_uint4(0, 0, 0, 0));
}

}  // namespace

extern "C" __global__ void __launch_bounds__(threads) flash1(const __grid_constant__ AttentionParams p) {
  extern __shared__ __align__(128) unsigned char shared[];  // K tile, V tile, two Q tiles
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int warp_row = thread / 32 * warp_rows;
  const long long head = blockIdx.x, batch = blockIdx.y, kv_head = head / (p.heads / p.kv_heads);
  const auto* q = slice_of<const Element>(p, operand_q, batch, head);
  const auto* k = slice_of<const Element>(p, operand_k, batch, kv_head);
  const auto* v = slice_of<const Element>(p, operand_v, batch, kv_head);
  auto* o = slice_of<Element>(p, operand_o, batch, head);
  const long long q_stride = row_stride(p, operand_q), k_stride = row_stride(p, operand_k);
  const long long v_stride = row_stride(p, operand_v), o_stride = row_stride(p, operand_o);
  // l and m have a row pitch of whole sectors (src/variants/flash1.cpp).
  const long long slice = batch * p.heads + head, pitch = (p.q_len + 7) / 8 * 8;
  const Workspace workspace{workspace_of<float>(p, 0) + slice * p.q_len * d,
                            workspace_of<float>(p, 1) + slice * pitch,
                            workspace_of<float>(p, 2) + slice * pitch};
  const uint32_t K = shared_address(shared), V = K + kv_bytes, Q = V + kv_bytes;
  const uint32_t k_tile = K + lane_offset_right<d>(lane), v_tile = V + lane_offset_down<d>(lane);
  const uint32_t q_rows_tile = Q + warp_row * TileLayout<d>::row_bytes;
  const uint32_t q_tile = q_rows_tile + lane_offset_down<d>(lane);
  const float c = p.scale * 1.4426950408889634f;  // e^(scale x) = 2^(c x)

  const int Tr = (p.q_len + Br - 1) / Br, Tc = (p.kv_len + Bc - 1) / Bc;
  const auto prefetch_q = [&](int i) {  // a warp copies its own rows, so the inner loop needs no barrier
    if (i < Tr)
      TileCopy<warp_rows, d, 32>::start(q_rows_tile + i % 2 * q_bytes, q + (i * Br + warp_row) * q_stride,
                                        q_stride, p.q_len - i * Br - warp_row, lane);
    cp_async_commit();
  };

  // Q tiles that no key reaches (causal, q_len > kv_len) are in no pass.
  const int first_seeing = first_seeing_query(p, 0) / Br;
  clear_rows(o, o_stride, first_seeing * Br);

  for (int j = 0; j < Tc; ++j) {
    __syncthreads();  // nobody reads the previous K, V any more
    TileCopy<Bc, d, threads>::start(K, k + j * Bc * k_stride, k_stride, p.kv_len - j * Bc, thread);
    TileCopy<Bc, d, threads>::start(V, v + j * Bc * v_stride, v_stride, p.kv_len - j * Bc, thread);
    // Causal: Q tiles that end before key j Bc are above the diagonal.
    const int first = first_seeing_query(p, j * Bc) / Br;
    prefetch_q(first);
    cp_async_wait<0>();
    __syncthreads();

    for (int i = first; i < Tr; ++i) {
      const int again = rederive(lane), row = i * Br + warp_row + again / 4, column = again % 4 * 2;
      const bool last = (j + 1) * Bc >= visible_keys_of_tile(p, i * Br, Br);
      __syncwarp();  // Q_{i-1} has been read, its buffer is free
      prefetch_q(i + 1);

      float O[d / 8][4] = {}, l[2] = {}, m[2] = {-INFINITY, -INFINITY};
      if (j > 0)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          if (row + half * 8 < p.q_len) {
            l[half] = __ldcg(workspace.l + row + half * 8);
            m[half] = __ldcg(workspace.m + row + half * 8);
            workspace.load(O, half, row + half * 8, column);
          }

      cp_async_wait<1>();
      __syncwarp();
      const uint32_t q_buffer = rederive(q_tile) + i % 2 * q_bytes;
      float S[1][Bc / 8][4] = {};
#pragma unroll
      for (int step = 0; step < d / 16; ++step) {
        uint32_t fragment[1][4];
        load_q<1, d>(fragment, q_buffer, step);
        add_q_k<1, Bc, d>(S, fragment, rederive(k_tile), step);
      }
      const int first_keys = unclamped_visible_keys(p, i * Br + warp_row);
      if (min(first_keys, p.kv_len) < (j + 1) * Bc)
        mask_scores<CAUSAL>(S, first_keys - j * Bc, p.kv_len - j * Bc, lane);

      // Lines 9 to 12, with e^(m~ - m_new) P~ computed at once as e^(S - m_new).
      uint32_t P[1][Bc / 16][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const float m_new = row_max(S[0], half, m[half]);
        const float shift = CAUSAL && m_new == -INFINITY ? 0.0f : m_new * c;
        l[half] *= exp2_fast(fmaf(m[half], c, -shift));
        scale_row(O, half, l[half]);  // diag(l_i) e^(m_i - m_new) O_i
        l[half] += quad_sum(exponentials(P[0], S[0], half, c, shift));
        m[half] = m_new;
      }
      float(&accumulators)[1][d / 8][4] = reinterpret_cast<float(&)[1][d / 8][4]>(O);
      add_p_v<1, Bc, d>(accumulators, P, rederive(v_tile));

      if (last) __syncwarp();  // every lane has read Q_i, whose buffer takes O
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int h_row = row + half * 8;
        scale_row(O, half, l[half] > 0.0f ? 1.0f / l[half] : 0.0f);  // diag(l_new)^-1
        if (last)
          put_row<d>(shared + 2 * kv_bytes + i % 2 * q_bytes, warp_row + half * 8 + lane / 4, O, half, lane);
        else if (h_row < p.q_len)
          workspace.store(O, half, h_row, column);
        if (h_row < p.q_len && lane % 4 == 0) {
          __stcg(workspace.l + h_row, l[half]);
          __stcg(workspace.m + h_row, m[half]);
        }
      }
      if (last) {  // the last pass over these rows writes O itself, through the Q tile
        __syncwarp();
        store_warp_rows<warp_rows, d>(o + (i * Br + warp_row) * o_stride, o_stride,
                                      shared + 2 * kv_bytes + i % 2 * q_bytes, warp_row,
                                      p.q_len - i * Br - warp_row, lane);
      }
    }
  }
}
