// Preparation of flash3 in FP8: V [keys, head_dim] becomes V^T [head_dim, keys], zero from kv_len to its
// pitch. wgmma takes 8-bit operands only with the summed dimension contiguous (PTX ISA, wgmma, matrix
// layouts), and PV sums over keys.
//
// A block turns 128 keys: it reads their rows as they lie, and writes rows of 128 bytes. Bytes are turned
// four by four in registers. Counters: V read once and written once, in whole sectors.
#include "attention_params.h"
#include "lib/flash3_layout.h"
#include "lib/tensor.cuh"

static_assert(HEAD_DIM % 32 == 0, "rows of V are whole 32-byte sectors");
static_assert(transpose_v_keys % v_column_group == 0);

constexpr int keys = transpose_v_keys;
constexpr int row_words = HEAD_DIM / 4;
constexpr int skew_words = 4;           // every 16 keys, so that a warp's 8 key groups read different banks
constexpr int vectors = HEAD_DIM / 16;  // of a row of V

// Where the row of key `key` of the tile starts in shared memory.
__device__ constexpr int row_start(int key) { return key * row_words + key / 16 * skew_words; }

// Bytes of four keys, four dimensions each (w[key]), become bytes of four dimensions, four keys each.
__device__ void turn(const unsigned (&w)[4], unsigned (&turned)[4]) {
  const unsigned low01 = __byte_perm(w[0], w[1], 0x5140), low23 = __byte_perm(w[2], w[3], 0x5140);
  const unsigned high01 = __byte_perm(w[0], w[1], 0x7362), high23 = __byte_perm(w[2], w[3], 0x7362);
  turned[0] = __byte_perm(low01, low23, 0x5410);
  turned[1] = __byte_perm(low01, low23, 0x7632);
  turned[2] = __byte_perm(high01, high23, 0x5410);
  turned[3] = __byte_perm(high01, high23, 0x7632);
}

// Rows [first, first + keys) of V, zeros from kv_len on.
__device__ void load(const unsigned char* v, long long row_stride, int first, int kv_len, unsigned* tile) {
  for (int i = threadIdx.x; i < keys * vectors; i += transpose_v_threads) {
    const int key = i / vectors, part = i % vectors;
    uint4 vector = make_uint4(0, 0, 0, 0);
    if (first + key < kv_len)
      vector = __ldcg(reinterpret_cast<const uint4*>(v + (first + key) * row_stride) + part);
    *reinterpret_cast<uint4*>(tile + row_start(key) + part * 4) = vector;
  }
}

// Sixteen columns of four rows of V^T: `word` is the dimensions' place in a row of V, `group` the columns'.
__device__ void store(const unsigned* tile, int word, int group, unsigned char* out, long long pitch) {
  unsigned columns[4][4];  // [dimension][four keys]
  const int base = group / 2 * row_start(v_column_group);
#pragma unroll
  for (int quad = 0; quad < 4; ++quad) {
    unsigned w[4], turned[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int even = row_start(v_key(4 * quad + i)), odd = row_start(v_key(16 + 4 * quad + i));
      w[i] = tile[base + (group % 2 ? odd : even) + word];
    }
    turn(w, turned);
#pragma unroll
    for (int d = 0; d < 4; ++d) columns[d][quad] = turned[d];
  }
#pragma unroll
  for (int d = 0; d < 4; ++d)
    __stcg(reinterpret_cast<uint4*>(out + (4 * word + d) * pitch + 16 * group),
           make_uint4(columns[d][0], columns[d][1], columns[d][2], columns[d][3]));
}

// Grid: tiles of keys, kv_heads, batch. VT_WORKSPACE: the position of V^T [batch, kv_heads, HEAD_DIM, pitch]
// among the workspaces.
extern "C" __global__ void __launch_bounds__(transpose_v_threads)
    flash3_transpose_v(const __grid_constant__ AttentionParams p) {
  __shared__ alignas(16) unsigned tile[row_start(keys)];
  const int first = blockIdx.x * keys;
  const long long pitch = (p.kv_len + v_column_group - 1) / v_column_group * v_column_group;
  const auto* v = slice_of<const unsigned char>(p, operand_v, blockIdx.z, blockIdx.y);
  load(v, row_stride(p, operand_v), first, p.kv_len, tile);
  __syncthreads();
  const long long slice = static_cast<long long>(blockIdx.z) * p.kv_heads + blockIdx.y;
  unsigned char* out = workspace_of<unsigned char>(p, VT_WORKSPACE) + slice * HEAD_DIM * pitch + first;
  constexpr int groups = keys / 16;
  // Neighbouring lanes write neighbouring halves of a sector.
  for (int i = threadIdx.x; i < groups * row_words; i += transpose_v_threads)
    if (first + i % groups * 16 < pitch) store(tile, i / groups, i % groups, out, pitch);
}
