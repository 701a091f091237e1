// flash3's tiles: where Q, K and V lie in shared memory, how they get there, the products over them, and how
// O leaves. A tile of rows of `row_bytes` is stored as panels of `width` bytes a row, one behind the other,
// each swizzled by the hardware over that width.
#pragma once

#include "attention_params.h"
#include "flash3_layout.h"
#include "flash3_order.h"
#include "mbarrier.cuh"
#include "tma.cuh"
#include "visible_keys.cuh"
#include "warpgroup.cuh"
#include "wgmma.cuh"
#if DTYPE == 3
#include "element8.cuh"
#else
#include "element16.cuh"
#endif

#ifndef STAGES  // tiles of K, and of V, in shared memory
#define STAGES 2
#endif
#ifndef MIN_BLOCKS  // blocks an SM that registers must leave room for
#define MIN_BLOCKS 1
#endif

constexpr int d = HEAD_DIM, Br = TILE_BR, Bc = TILE_BC;
constexpr int consumers = Br / 64;
constexpr float log2_e = 1.4426950408889634f;
constexpr bool fp8 = DTYPE == 3;
constexpr int element_bytes = fp8 ? 1 : 2;
constexpr int step_bytes = 32;  // of a row of A or B that one wgmma contracts

static_assert(Br % 64 == 0 && Bc % (fp8 ? 32 : 16) == 0 && Bc <= 256 && d % (fp8 ? 32 : 16) == 0 && d <= 256);

// `rows` rows of `row_bytes` in panels.
template <int rows, int row_bytes>
struct PanelTile {
  static constexpr int width = flash3_panel_width(row_bytes), panels = row_bytes / width;
  static constexpr int panel_bytes = rows * width, bytes = rows * row_bytes;
  using Panel = SwizzledPanel<width>;
  // How far the k-th 32 bytes of the rows are from the first.
  ATTNPROF_HOST_DEVICE static constexpr int step(int k) {
    return k * step_bytes / width * panel_bytes + k * step_bytes % width;
  }
  // One thread.
  __device__ static void load(uint32_t to, const AttentionTensorMap& map, uint32_t barrier, int col, int row,
                              int slice) {
    mbarrier_arrive_expect(barrier, bytes);
#pragma unroll 1
    for (int i = 0; i < panels; ++i)
      tma_load(to + i * panel_bytes, map, barrier, col + i * (width / element_bytes), row, slice);
  }
};

using QTile = PanelTile<64, d * element_bytes>;  // of one warpgroup
using KTile = PanelTile<Bc, d * element_bytes>;
#if DTYPE == 3
using VTile = PanelTile<d, Bc>;  // V^T: its keys run along a row, as 8-bit wgmma wants them
#else
using VTile = PanelTile<Bc, d * element_bytes>;
#endif

// Where the t-th tile of K, or of V, of a block lies in its ring, and the parity of that round.
__device__ inline int slot(uint32_t t) { return static_cast<int>(t % STAGES); }
__device__ inline uint32_t phase(uint32_t t) { return t / STAGES % 2; }

// A warpgroup's share of a tile of Q.
struct alignas(16) Work {
  int row;         // its first
  int slice;       // batch * heads + head
  float qk_scale;  // of the products of elements: 1 but for 8-bit ones
  float v_scale;
};

class SharedMemory {
 public:
  __device__ explicit SharedMemory(unsigned char* base)
      : base_(static_cast<uint32_t>(__cvta_generic_to_shared(base))) {}

  __device__ void init_barriers() const {
    for (int w = 0; w < consumers; ++w) mbarrier_init(q_full(w), 1), mbarrier_init(q_empty(w), 4);
    for (int s = 0; s < STAGES; ++s) {
      mbarrier_init(k_full(s), 1), mbarrier_init(v_full(s), 1);
      // One lane of every warp that reads a tile says when it is done; so it is for Q above.
      mbarrier_init(k_empty(s), consumers * 4), mbarrier_init(v_empty(s), consumers * 4);
    }
  }

  __device__ uint32_t k_full(int s) const { return barrier(s); }
  __device__ uint32_t k_empty(int s) const { return barrier(STAGES + s); }
  __device__ uint32_t v_full(int s) const { return barrier(2 * STAGES + s); }
  __device__ uint32_t v_empty(int s) const { return barrier(3 * STAGES + s); }
  __device__ uint32_t q_full(int w) const { return barrier(4 * STAGES + w); }
  __device__ uint32_t q_empty(int w) const { return barrier(4 * STAGES + consumers + w); }

  // What warpgroup w works on; written before q_full opens. Of two tiles by turns: one is still being
  // finished when the next is known.
  __device__ void set_work(int w, uint32_t turn, const Work& work) const { *where(w, turn) = work; }
  __device__ Work work(int w, uint32_t turn) const { return *where(w, turn); }

  __device__ void load_q(const AttentionTensorMap& map, int w, int row, int slice) const {
    QTile::load(q(w), map, q_full(w), 0, row, slice);
  }
  __device__ void load_k(const AttentionTensorMap& map, int s, int key, int slice) const {
    KTile::load(k(s), map, k_full(s), 0, key, slice);
  }
  __device__ void load_v(const AttentionTensorMap& map, int s, int key, int slice) const {
    VTile::load(v(s), map, v_full(s), fp8 ? key : 0, fp8 ? 0 : key, slice);
  }

  __device__ uint64_t q_operand(int w) const { return QTile::Panel::k_major(q(w)); }
  __device__ uint64_t k_operand(int s) const { return KTile::Panel::k_major(k(s)); }
  __device__ uint64_t v_operand(int s) const {
    return fp8 ? VTile::Panel::k_major(v(s)) : VTile::Panel::mn_major(v(s), VTile::panel_bytes);
  }

 private:
  static constexpr uint32_t k_at = consumers * QTile::bytes;
  static constexpr uint32_t v_at = k_at + STAGES * KTile::bytes;
  static constexpr uint32_t barriers_at = v_at + STAGES * VTile::bytes;
  static constexpr uint32_t work_at = barriers_at + 8 * (4 * STAGES + 2 * consumers);
  static_assert(work_at % sizeof(Work) == 0 && sizeof(Work) == flash3_work_bytes);
  static_assert(work_at + 2 * consumers * sizeof(Work) ==
                flash3_smem_bytes(consumers, d, Bc, element_bytes, STAGES));

  __device__ uint32_t barrier(int i) const { return base_ + barriers_at + 8 * i; }
  __device__ uint32_t q(int w) const { return base_ + w * QTile::bytes; }
  __device__ uint32_t k(int s) const { return base_ + k_at + s * KTile::bytes; }
  __device__ uint32_t v(int s) const { return base_ + v_at + s * VTile::bytes; }

  __device__ Work* where(int w, uint32_t turn) const {
    return static_cast<Work*>(__cvta_shared_to_generic(base_ + work_at)) + turn * consumers + w;
  }

  uint32_t base_;
};

// K, V tiles that at least one row of the Q tile at `row` sees.
__device__ inline int visible_tiles(const AttentionParams& p, int row) {
  return (visible_keys_of_tile(p, row, Br) + Bc - 1) / Bc;
}

__device__ inline Flash3Order make_order(const AttentionParams& p) {
  return Flash3Order::make((p.q_len + Br - 1) / Br, p.batch * p.heads, p.heads / p.kv_heads,
                           flash3_kv_kib(p.kv_len, d, element_bytes), CAUSAL);
}

// S = Q K^T.
__device__ inline void add_q_k(float (&S)[Bc / 8][4], uint64_t q, uint64_t k) {
#pragma unroll
  for (int i = 0; i < d * element_bytes / step_bytes; ++i)
    Wgmma<Bc>::ss(S, advance(q, QTile::step(i)), advance(k, KTile::step(i)), i > 0);
}

// P as A operands: an accumulator of S has their layout for 16-bit elements; for 8-bit ones the keys of V^T
// are stored in the order that gives it (flash3_layout.h).
constexpr int keys_per_step = step_bytes / element_bytes;
using PFragments = uint32_t[Bc / keys_per_step][4];

// P = next, once wgmma has read P. `zero` is 0, which the assembler must not know: were P not read here, it
// would put `next` into P's registers, which wgmma is still reading, and for that run products one by one.
__device__ inline void replace(PFragments& P, const PFragments& next, uint32_t zero) {
#pragma unroll
  for (int i = 0; i < Bc / keys_per_step; ++i)
#pragma unroll
    for (int e = 0; e < 4; ++e) P[i][e] = next[i][e] | (P[i][e] & zero);
}

// O += P V.
__device__ inline void add_p_v(float (&O)[d / 8][4], const PFragments& P, uint64_t v) {
#pragma unroll
  for (int i = 0; i < Bc / keys_per_step; ++i)
    Wgmma<d>::rs(O, P[i], advance(v, fp8 ? VTile::step(i) : i * keys_per_step * VTile::width), 1);
}

// The largest scores of a lane's two rows, m_old among them. Here and below, two partial results a row: with
// few warps an SM's instructions wait for their own last result, so four independent chains take half the
// time of two.
__device__ inline void row_maxima(const float (&S)[Bc / 8][4], const float (&m_old)[2], float (&m)[2]) {
  float partial[4] = {m_old[0], m_old[0], m_old[1], m_old[1]};
#pragma unroll
  for (int n = 0; n < Bc / 8; ++n)
#pragma unroll
    for (int e = 0; e < 4; ++e) partial[e] = fmaxf(partial[e], S[n][e]);
  m[0] = quad_max(fmaxf(partial[0], partial[1]));
  m[1] = quad_max(fmaxf(partial[2], partial[3]));
}

// P = 2^(S c - shift) for a lane's two rows, and its part of their sums, before rounding.
__device__ inline void probabilities(PFragments& P, const float (&S)[Bc / 8][4], float c,
                                     const float (&shift)[2], float (&sum)[2]) {
  float partial[4] = {};
  const auto exponentials = [&](int n, int half, float(&p)[2]) {
#pragma unroll
    for (int e = 0; e < 2; ++e) {
      p[e] = exp2_fast(fmaf(S[n][half * 2 + e], c, -shift[half]));
      partial[half * 2 + e] += p[e];
    }
  };
#pragma unroll
  for (int i = 0; i < Bc / keys_per_step; ++i)
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      float low[2];
#if DTYPE == 3
      float high[2];
      exponentials(4 * i + e / 2 * 2, e % 2, low);
      exponentials(4 * i + e / 2 * 2 + 1, e % 2, high);
      P[i][e] = pack4(low[0], low[1], high[0], high[1]);
#else
      exponentials(2 * i + e / 2, e % 2, low);
      P[i][e] = pack2(low[0], low[1]);
#endif
    }
  sum[0] = partial[0] + partial[1];
  sum[1] = partial[2] + partial[3];
}

// A warpgroup's 64 rows of O to memory, 16 bits an element, from the registers they are in. Of two blocks of
// 8 columns a lane has 4 bytes each; neighbours exchange one, so that each has 8 bytes of one block, and the
// four lanes of a row write 32 bytes, a whole sector. O's slices are evenly apart, as Q's are for the copy
// engine.
__device__ inline void write_o(const AttentionParams& p, const Work& work, const float (&O)[d / 8][4],
                               int thread) {
  const int lane = thread % 32, row = work.row + thread / 32 * 16 + lane / 4;
  const bool odd = lane % 2 != 0;
  const AttentionTensor& o = p.tensors[operand_o];
  uint16_t* to = static_cast<uint16_t*>(o.data) + work.slice * o.strides.head + row * o.strides.row +
                 lane % 4 / 2 * 4 + odd * 8;
#pragma unroll
  for (int half = 0; half < 2; ++half, to += 8 * o.strides.row) {
    const bool is_row = row + half * 8 < p.q_len;
#pragma unroll
    for (int n = 0; n < d / 8; n += 2) {
      const uint32_t even_block = pack2(O[n][half * 2], O[n][half * 2 + 1]);
      const uint32_t odd_block = pack2(O[n + 1][half * 2], O[n + 1][half * 2 + 1]);
      const uint32_t other = __shfl_xor_sync(0xffffffffu, odd ? even_block : odd_block, 1);
      const uint2 both = odd ? make_uint2(other, odd_block) : make_uint2(even_block, other);
      if (is_row) *reinterpret_cast<uint2*>(to + n * 8) = both;
    }
  }
}
