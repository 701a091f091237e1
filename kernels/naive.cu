// Attention in three launches, S and P in device memory between them. The idea is what it lacks: nothing is
// kept on chip from one step to the next, so S and P cross the memory system four times (8 N^2 bytes a head
// in fp16), and no tensor cores run. The counters show it as bytes, and as zero tensor FLOPs.
#include "attention_params.h"
#include "lib/element.cuh"
#include "lib/fma_product.cuh"
#include "lib/row_softmax.cuh"
#include "lib/tensor.cuh"
#include "lib/visible_keys.cuh"

using ScoresProduct = FmaProduct<TILE_BR, TILE_BC, true>;
using OutputProduct = FmaProduct<TILE_BR, HEAD_DIM, false>;

// Row `row` of S (workspace 0) or P (workspace 1), [batch, heads, q_len, score_pitch].
__device__ Element* score_row(const AttentionParams& p, int workspace, long long slice, int row) {
  return workspace_of<Element>(p, workspace) + (slice * p.q_len + row) * score_pitch(p.kv_len);
}

// S = scale Q K^T: one block a Br x Bc tile, kv tiles fastest. Causal: a tile that no query of it sees is
// neither computed nor written.
extern "C" __global__ void __launch_bounds__(ScoresProduct::threads, ScoresProduct::blocks_per_sm)
    naive_scores(const __grid_constant__ AttentionParams p) {
  extern __shared__ float4 shared[];
  const int kv_tiles = (p.kv_len + TILE_BC - 1) / TILE_BC;
  const int row = int(blockIdx.x) / kv_tiles * TILE_BR;
  const int key = int(blockIdx.x) % kv_tiles * TILE_BC;
  const int head = blockIdx.y, batch = blockIdx.z;
  if (key >= visible_keys_of_tile(p, row, TILE_BR)) return;

  const int kv_head = head / (p.heads / p.kv_heads);
  const long long q_stride = row_stride(p, operand_q), k_stride = row_stride(p, operand_k);
  const MatrixRows q{slice_of<const Element>(p, operand_q, batch, head) + row * q_stride, int(q_stride),
                     min(TILE_BR, p.q_len - row)};
  const MatrixRows k{slice_of<const Element>(p, operand_k, batch, kv_head) + key * k_stride, int(k_stride),
                     min(TILE_BC, p.kv_len - key)};
  ScoresProduct product;
  product.add(q, k, HEAD_DIM, &shared[0].x);
  const int pitch = score_pitch(p.kv_len);
  Element* const s = score_row(p, 0, static_cast<long long>(batch) * p.heads + head, row) + key;
  product.store(s, pitch, q.rows, min(TILE_BC, pitch - key), p.scale, &shared[0].x);
}

// Columns of P that naive_output reads for the query tile of `row`.
__device__ int output_columns(const AttentionParams& p, int row) {
  const int keys = visible_keys_of_tile(p, row / TILE_BR * TILE_BR, TILE_BR);
  return min((keys + TILE_BC - 1) / TILE_BC * TILE_BC, score_pitch(p.kv_len));
}

// P = softmax(S): reads the sectors (16 columns) with visible scores, writes what naive_output will read.
extern "C" __global__ void __launch_bounds__(1024) naive_softmax(const __grid_constant__ AttentionParams p) {
  const RowGroup group(p.kv_len);
  SoftmaxRow work;
  if (group.row < unsigned(p.batch) * p.heads * p.q_len) {
    const int slice = group.row / p.q_len, row = group.row % p.q_len;
    work.s = score_row(p, 0, slice, row);
    work.p = score_row(p, 1, slice, row);
    work.visible = visible_keys(p, row);
    work.read = score_pitch(work.visible);
    work.write = output_columns(p, row);
  }
  softmax_row(group, work, 1.0f);
}

// O = P V: one block Br rows of O, over the Bc-wide tiles of P that hold anything.
extern "C" __global__ void __launch_bounds__(OutputProduct::threads, OutputProduct::blocks_per_sm)
    naive_output(const __grid_constant__ AttentionParams p) {
  extern __shared__ float4 shared[];
  const int row = int(blockIdx.x) * TILE_BR;
  const int head = blockIdx.y, batch = blockIdx.z;
  const int kv_head = head / (p.heads / p.kv_heads);
  const MatrixRows probabilities{score_row(p, 1, static_cast<long long>(batch) * p.heads + head, row),
                                 score_pitch(p.kv_len), min(TILE_BR, p.q_len - row)};
  const MatrixRows v{slice_of<const Element>(p, operand_v, batch, kv_head), int(row_stride(p, operand_v)),
                     p.kv_len};
  OutputProduct product;
  product.add(probabilities, v, output_columns(p, row), &shared[0].x);
  // The block's place is read once more: held over the product, it would cost the registers of a fourth block
  // an SM.
  const int row_again = int(blockIdx.x) * TILE_BR;
  const long long o_stride = row_stride(p, operand_o);
  Element* const o = slice_of<Element>(p, operand_o, blockIdx.z, blockIdx.y) + row_again * o_stride;
  product.store(o, o_stride, min(TILE_BR, p.q_len - row_again), HEAD_DIM, 1.0f, &shared[0].x);
}
