// The keys that queries see (visible_keys.h), of a kernel's parameters. Kernels here take masks whose visible
// keys are a prefix [0, n).
#pragma once

#include "attention_params.h"
#include "visible_keys.h"

static_assert(CAUSAL == 0 || CAUSAL == 1, "masks whose visible keys are a prefix");

__device__ inline AttentionMask mask_of(const AttentionParams& p) {
  return {p.q_len, p.kv_len, p.causal_offset, CAUSAL == 1};
}

// Keys that query `row` sees.
__device__ inline int visible_keys(const AttentionParams& p, int row) {
  return visible_key_ranges(mask_of(p), row).at[0].end;
}

// The same, but negative for a row before the first that sees any, and beyond kv_len for one after the last:
// it grows by the same from row to row of a tile, whose lanes count from its first.
__device__ inline int unclamped_visible_keys(const AttentionParams& p, int row) {
  return unclamped_prefix(mask_of(p), row);
}

// Keys that at least one of the query rows [row, row + rows) sees.
__device__ inline int visible_keys_of_tile(const AttentionParams& p, int row, int rows) {
  return visible_keys(p, min(row + rows, p.q_len) - 1);
}

// The first query that sees key `key` or one after it.
__device__ inline int first_seeing_query(const AttentionParams& p, int key) {
  return seeing_queries(mask_of(p), {key, p.kv_len}).first;
}
