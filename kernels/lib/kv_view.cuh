// Where keys lie in K and V (src/problem/kv_view.hpp), for tiles that are copied to shared memory. With
// PAGE_SIZE in pages of so many keys, else dense.
#pragma once

#include "attention_params.h"
#include "lib/shared_tile.cuh"
#include "lib/tensor.cuh"

// K or V of one kv head of a sequence.
struct KvRows {
  const Element* first;  // of the sequence; in pages, of page 0
  long long stride;      // of a row
#ifdef PAGE_SIZE
  long long page_stride;
  const int* table;  // in shared memory: the pages of the sequence

  __device__ KvRows(const AttentionParams& p, OperandId id, long long /*batch*/, long long kv_head,
                    const int* pages)
      : first(slice_of<const Element>(p, id, 0, kv_head)),
        stride(row_stride(p, id)),
        page_stride(p.tensors[id].strides.batch),
        table(pages) {}
#else
  __device__ KvRows(const AttentionParams& p, OperandId id, long long batch, long long kv_head, const int*)
      : first(slice_of<const Element>(p, id, batch, kv_head)), stride(row_stride(p, id)) {}
#endif

  // Starts the copy of `rows` keys from `key` on into a tile, zeros below them.
  template <int tile_rows, int d, int threads>
  __device__ void copy(uint32_t tile, int key, int rows, int thread) const {
#ifdef PAGE_SIZE
    const auto row_at = [&](int row) {
      const int at = key + row;
      return first + table[at / PAGE_SIZE] * page_stride + at % PAGE_SIZE * stride;
    };
    TileCopy<tile_rows, d, threads>::start_rows(tile, row_at, rows, thread);
#else
    TileCopy<tile_rows, d, threads>::start(tile, first + key * stride, stride, rows, thread);
#endif
  }
};

#ifdef PAGE_SIZE
// The pages of a sequence that `keys` keys lie in, into shared memory; ends with a barrier.
__device__ inline void load_pages(const AttentionParams& p, long long batch, int keys, int threads,
                                  int* table) {
  const int* const pages = slice_of<const int>(p, operand_block_table, batch, 0);
  for (int i = threadIdx.x; i < (keys + PAGE_SIZE - 1) / PAGE_SIZE; i += threads)
    table[i] = __ldcg(pages + i);
  __syncthreads();
}
#endif
