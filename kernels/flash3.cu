// FlashAttention-3 forward (Shah et al. 2024, Algorithms 1 and 2), for Hopper. The idea: one warp only moves
// tiles (TMA), consumer warpgroups only compute (wgmma), so that copies, products and exponentials of
// different tiles overlap. In the counters: the bytes and FLOPs of flash2 with the same tile, in less time.
#include "attention_params.h"
#include "lib/accumulators.cuh"
#include "lib/flash3_order.h"
#include "lib/flash3_tile.cuh"
#include "lib/rederive.cuh"
#include "lib/tensor.cuh"

#ifndef PING_PONG  // warpgroups take turns: one multiplies while another exponentiates (section 3.1)
#define PING_PONG (TILE_BR > 64 && CAUSAL)
#endif

#ifndef OPTIMISTIC  // try each tile with the maximum of those before: takes registers for a second P
#define OPTIMISTIC 1
#endif

namespace {

constexpr int threads = (consumers + 1) * warpgroup_threads;
constexpr int held = flash3_held_registers(d, Bc, element_bytes, OPTIMISTIC);
constexpr int no_slice = -1;

// P may be as large as 2^(p_exponent + lag), and its sum over a lane's part of a row as largest_sum, when m
// stays: e4m3 ends at 448, fp16 at 65504.
constexpr float p_exponent = fp8 ? probability_exponent : 0;
constexpr float lag = fp8 ? 4 : 8;
constexpr float largest_sum = fp8 ? 448 : 16384;

// One a slice (fp8).
__device__ inline const float* scales(const AttentionParams& p, OperandId id) {
  return static_cast<const float*>(p.tensors[id].data);
}

// One thread: takes up tiles and keeps the rings of K and V full. A block asks for its next tile before the
// last V of the present one, in whose shadow the answer comes; asked for earlier, a block with a long tile
// would hold another long one back from blocks that are done.
__device__ inline void produce(const AttentionParams& p, const SharedMemory& smem) {
  const Flash3Order order = make_order(p);
  auto* counter = workspace_of<int>(p, 0);
  const int share = p.heads / p.kv_heads;
  const auto take_next = [&] { return static_cast<int>(gridDim.x) + atomicAdd(counter, 1); };
  uint32_t k_count = 0, v_count = 0, turn = 0;
  int next = 0;
  for (int index = static_cast<int>(blockIdx.x); index < order.tiles(); index = next) {
    const Flash3Tile tile = order.tile(index);
    const int row = tile.q_tile * Br, kv_slice = tile.slice / share;
    const int Tc = visible_tiles(p, row);
    const float qk_scale =
        fp8 ? __ldcg(scales(p, operand_q_scale) + tile.slice) * __ldcg(scales(p, operand_k_scale) + kv_slice)
            : 1.0f;
    const float v_scale = fp8 ? __ldcg(scales(p, operand_v_scale) + kv_slice) : 1.0f;
    const auto load_k = [&](int j) {
      mbarrier_wait(smem.k_empty(slot(k_count)), phase(k_count) ^ 1);
      smem.load_k(p.tensor_maps[1], slot(k_count++), j * Bc, kv_slice);
    };
    if (Tc > 0) load_k(Tc - 1);
    for (int w = 0; w < consumers; ++w) {
      mbarrier_wait(smem.q_empty(w), turn ^ 1);
      smem.set_work(w, turn, {row + w * 64, tile.slice, qk_scale, v_scale});
      if (Tc > 0)
        smem.load_q(p.tensor_maps[0], w, row + w * 64, tile.slice);
      else
        mbarrier_arrive(smem.q_full(w));
    }
    turn ^= 1;
    if (Tc == 0) next = take_next();
    for (int j = Tc - 1; j >= 0; --j) {
      if (j > 0)
        load_k(j - 1);
      else
        next = take_next();
      mbarrier_wait(smem.v_empty(slot(v_count)), phase(v_count) ^ 1);
      smem.load_v(p.tensor_maps[2], slot(v_count++), j * Bc, kv_slice);
    }
  }
  for (int w = 0; w < consumers; ++w) {
    mbarrier_wait(smem.q_empty(w), turn ^ 1);
    smem.set_work(w, turn, {0, no_slice, 0, 0});
    mbarrier_arrive(smem.q_full(w));
  }
  // The last block leaves the counters as it found them, for the next launch.
  if (atomicAdd(counter + 1, 1) == static_cast<int>(gridDim.x) - 1) counter[0] = 0, counter[1] = 0;
}

// A warpgroup's 64 rows of one tile of Q.
class Consumer {
 public:
  __device__ Consumer(const AttentionParams& p, const SharedMemory& smem)
      : p_(p),
        smem_(smem),
        me_(static_cast<int>(threadIdx.x) / warpgroup_threads - 1),
        thread_(static_cast<int>(threadIdx.x) % warpgroup_threads) {
    if (PING_PONG && me_ == consumers - 1) pass_turn();
  }

  __device__ void run() {
    for (uint32_t turn = 0;; turn ^= 1) {
      mbarrier_wait(smem_.q_full(me_), turn);
      const Work work = smem_.work(me_, turn);
      if (work.slice == no_slice) break;
      attend(work.row, p_.scale * log2_e * work.qk_scale);
      write(smem_.work(me_, turn));  // read again rather than kept in registers
    }
    if (PING_PONG && me_ == 0) take_turn();  // leaves no barrier half full
  }

 private:
  // Without turns the barrier is the warpgroup's own: it keeps the assembler from mixing products of two
  // steps, for which it would have no registers.
  __device__ void take_turn() const { named_barrier_sync(1 + me_, (PING_PONG ? 2 : 1) * warpgroup_threads); }
  __device__ void pass_turn() const {
    named_barrier_arrive(1 + (me_ + 1) % consumers, 2 * warpgroup_threads);
  }

  // Algorithm 2 (one warpgroup's overlap): S of tile j is multiplied while P V of tile j + 1 is, and the
  // softmax of j runs beside the latter. From the last tile to the first: masked ones come first.
  __device__ void attend(int row, float c) {
    const int Tc = visible_tiles(p_, row - me_ * 64);
    const int first_keys = unclamped_visible_keys(p_, row);
    const int unmasked = min(max(min(first_keys, p_.kv_len), 0) / Bc, Tc);  // tiles every row sees in full
#pragma unroll
    for (int n = 0; n < d / 8; ++n) O_[n][0] = O_[n][1] = O_[n][2] = O_[n][3] = 0;
    m_[0] = m_[1] = -INFINITY, l_[0] = l_[1] = 0;
    if (Tc == 0) return release(smem_.q_empty(me_));
    int j = Tc - 1;
    first_scores(j == 0);
    if (j >= unmasked) mask(first_keys, j);
    first_softmax(c);
    // With a full mask only the last keys' tile needs one. A loop of its own: the long one is then free of
    // it.
    for (--j; CAUSAL && j >= unmasked; --j) overlapped_step<true>(c, first_keys, j);
    for (; j >= 0; --j) overlapped_step<false>(c, first_keys, j);
    multiply_p_v(k_count_ - 1);
    wait_o(k_count_ - 1);
  }

  __device__ void first_scores(bool last) {
    mbarrier_wait(smem_.k_full(slot(k_count_)), phase(k_count_));
    take_turn();
    multiply_q_k();
    if (PING_PONG) pass_turn();
    wgmma_wait<0>();
    wgmma_pin(S_);
    release(smem_.k_empty(slot(k_count_++)));
    if (last) release(smem_.q_empty(me_));
  }

  template <bool masked>
  __device__ void overlapped_step(float c, int first_keys, int j) {
    const uint32_t v_tile = k_count_ - 1;  // V of the K before
    mbarrier_wait(smem_.k_full(slot(k_count_)), phase(k_count_));
    take_turn();
    multiply_q_k();
    multiply_p_v(v_tile);
    if (PING_PONG) pass_turn();
    wgmma_wait<1>();
    wgmma_pin(S_);
    release(smem_.k_empty(slot(k_count_++)));
    // Nobody reads Q any more: the next tile's arrives while this one is finished.
    if (j == 0) release(smem_.q_empty(me_));
    if (masked) mask(first_keys, j);
    PFragments next;
    const Correction correction = softmax<masked>(next, c);
    wait_o(v_tile);
    replace(P_, next, p_.kv_len >> 31);
    if (correction.needed) {
      scale_row(O_, 0, correction.factor[0]);
      scale_row(O_, 1, correction.factor[1]);
    }
  }

  __device__ void wait_o(uint32_t v_tile) {
    wgmma_wait<0>();
    wgmma_pin(O_);
    release(smem_.v_empty(slot(v_tile)));
  }

  __device__ void multiply_q_k() {
    wgmma_pin(S_);
    wgmma_fence();
    add_q_k(S_, smem_.q_operand(me_), smem_.k_operand(slot(k_count_)));
    wgmma_commit();
  }

  __device__ void multiply_p_v(uint32_t v_tile) {
    mbarrier_wait(smem_.v_full(slot(v_tile)), phase(v_tile));
    wgmma_pin(O_);
    wgmma_fence();
    add_p_v(O_, P_, smem_.v_operand(slot(v_tile)));
    wgmma_commit();
  }

  __device__ void release(uint32_t barrier) const {
    if (thread_ % 32 == 0) mbarrier_arrive(barrier);
  }

  __device__ void mask(int first_keys, int j) {
    const int thread = rederive(thread_), warp_row = thread / 32 * 16;
    mask_scores<CAUSAL>(S_, first_keys + warp_row - j * Bc, p_.kv_len - j * Bc, thread % 32);
  }

  // What O is to be multiplied by; the same for a warp whether at all.
  struct Correction {
    bool needed;
    float factor[2];
  };

  // Online softmax: P from S; m and l move on. c is scale * log2(e), so that e^x is one exp2. Any m near the
  // maximum does, as P and l both carry it. So P is first computed with the m there is, and only if it comes
  // out too large in a row of the warp does m follow, and O want a correction (FlashAttention-4 rescales on
  // such a condition; here it is found from the sums, which saves looking for the maximum).
  template <bool masked>
  __device__ Correction softmax(PFragments& P, float c) {
    float shift[2], sum[2];
    if (OPTIMISTIC && !masked) {
      shifts(c, shift);
      probabilities(P, S_, c, shift, sum);
      // A row that has seen no key yet has no m to keep.
      const bool fits = fmaxf(sum[0], sum[1]) <= largest_sum && (!CAUSAL || fminf(m_[0], m_[1]) > -INFINITY);
      if (__all_sync(0xffffffffu, fits)) {
        l_[0] += sum[0], l_[1] += sum[1];
        return {false, {1.0f, 1.0f}};
      }
    }
    const Correction correction = follow_maximum(c);
    shifts(c, shift);
    probabilities(P, S_, c, shift, sum);
    l_[0] += sum[0], l_[1] += sum[1];
    return correction;
  }

  __device__ void first_softmax(float c) {
    float shift[2];
    row_maxima(S_, m_, m_);
    shifts(c, shift);
    probabilities(P_, S_, c, shift, l_);
  }

  __device__ void shifts(float c, float (&shift)[2]) const {
#pragma unroll
    for (int half = 0; half < 2; ++half)  // a row that has seen no key has m = -inf, and 0 -inf is NaN
      shift[half] = CAUSAL && m_[half] == -INFINITY ? 0.0f : m_[half] * c - p_exponent;
  }

  __device__ Correction follow_maximum(float c) {
    float m_new[2];
    row_maxima(S_, m_, m_new);
    Correction correction = {false, {1.0f, 1.0f}};
    const bool grown = fmaxf(m_new[0] - m_[0], m_new[1] - m_[1]) * c > lag;
    if (!__any_sync(0xffffffffu, grown)) return correction;
    correction.needed = true;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const bool unseen = CAUSAL && m_new[half] == -INFINITY;
      correction.factor[half] = unseen ? 1.0f : exp2_fast((m_[half] - m_new[half]) * c);
      m_[half] = m_new[half];
      l_[half] *= correction.factor[half];
    }
    return correction;
  }

  // O / l.
  __device__ void write(const Work& work) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const float l = quad_sum(l_[half]);
      scale_row(O_, half, l > 0.0f ? work.v_scale / l : 0.0f);
    }
    write_o(p_, work, O_, rederive(thread_));
  }

  const AttentionParams& p_;
  const SharedMemory& smem_;
  const int me_, thread_;
  uint32_t k_count_ = 0;  // tiles of K used up
  float O_[d / 8][4], S_[Bc / 8][4], m_[2], l_[2];
  PFragments P_;
};

}  // namespace

extern "C" __global__ void __launch_bounds__(threads, MIN_BLOCKS)
    flash3(const __grid_constant__ AttentionParams p) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const SharedMemory smem(shared);
  if (threadIdx.x == 0) {
    for (int i = 0; i < 3; ++i) tma_prefetch(p.tensor_maps[i]);
    smem.init_barriers();
    fence_mbarrier_init();
  }
  __syncthreads();
  if (threadIdx.x < warpgroup_threads) {
    registers_down_to<flash3_producer_registers(consumers, held)>();
    if (threadIdx.x == 0) produce(p, smem);
  } else {
    registers_up_to<flash3_consumer_registers(consumers, MIN_BLOCKS, held)>();
    Consumer(p, smem).run();
  }
}
