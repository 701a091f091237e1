// The causal mask, aligned to the bottom right: which keys a query sees.
#pragma once

#include "attention_params.h"

// Keys that query `row` sees: a prefix [0, n) of the kv_len keys.
__device__ inline int visible_keys(const AttentionParams& p, int row) {
#if CAUSAL
  return min(max(row + p.causal_offset + 1, 0), p.kv_len);
#else
  (void)row;
  return p.kv_len;
#endif
}

// Keys that at least one of the query rows [row, row + rows) sees.
__device__ inline int visible_keys_of_tile(const AttentionParams& p, int row, int rows) {
  return visible_keys(p, min(row + rows, p.q_len) - 1);
}
