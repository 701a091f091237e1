// The copy engine (TMA): boxes of a [slices, rows, cols] tensor from global to shared memory, by one thread.
// Rows outside the tensor arrive as zeros.
#pragma once

#include <stdint.h>

#include "attention_params.h"

// PTX ISA, prefetch.tensormap.
__device__ inline void tma_prefetch(const AttentionTensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// PTX ISA, cp.async.bulk.tensor, global to shared: the box at (col, row, slice); its bytes count at
// `barrier`.
__device__ inline void tma_load(uint32_t to, const AttentionTensorMap& map, uint32_t barrier, int col,
                                int row, int slice) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], [%2];" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(col), "r"(row), "r"(slice)
      : "memory");
}
