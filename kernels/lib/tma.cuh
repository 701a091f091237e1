// The copy engine (TMA): boxes of a [slices, rows, cols] tensor between global and shared memory, by one
// thread. Rows outside the tensor arrive as zeros and are not written.
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

// PTX ISA, cp.async.bulk.tensor, shared to global. Ordinary stores to `from` need fence_shared_for_tma first.
__device__ inline void tma_store(const AttentionTensorMap& map, uint32_t from, int col, int row, int slice) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
      "r"(from), "r"(col), "r"(row), "r"(slice)
      : "memory");
}

// PTX ISA, cp.async.bulk.commit_group and wait_group.read: until this thread's stores have read their source.
__device__ inline void tma_store_wait() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

// PTX ISA, fence.proxy.async: this thread's ordinary accesses to shared memory before later ones of the copy
// engine and of wgmma.
__device__ inline void fence_shared_for_tma() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
