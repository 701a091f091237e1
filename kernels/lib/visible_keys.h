// Which keys a query sees, and which queries see a key: for kernels and host alike. How many pairs that makes
// is in src/problem/visible.cpp, in closed form.
#pragma once

#include "host_device.h"

// Of one sequence. The causal mask is aligned to the bottom right: query i sees key j when
// j <= i + causal_offset.
struct AttentionMask {
  int q_len;
  int kv_len;
  int causal_offset;  // kv_len - q_len
  bool causal;
};

// Keys or queries [first, end); empty where end <= first.
struct IndexRange {
  int first;
  int end;
};

// In ascending order, without overlap, none of them empty. From one query to the next, both ends of a range
// stay or grow.
constexpr int most_key_ranges = 2;
struct KeyRanges {
  IndexRange at[most_key_ranges];
  int count;
};

// Where the keys that query `row` sees end, before kv_len and zero bound it.
ATTNPROF_HOST_DEVICE inline int unclamped_prefix(const AttentionMask& mask, int row) {
  return mask.causal ? row + mask.causal_offset + 1 : mask.kv_len;
}

// Keys that query `row` sees; none where `causal` leaves none (q_len > kv_len), and its output is zero then.
ATTNPROF_HOST_DEVICE inline KeyRanges visible_key_ranges(const AttentionMask& mask, int row) {
  const int prefix = unclamped_prefix(mask, row);
  const int end = prefix < 0 ? 0 : prefix > mask.kv_len ? mask.kv_len : prefix;
  return {{{0, end}, {0, 0}}, end > 0 ? 1 : 0};
}

// Queries that see at least one of `keys`: one range, as ranges only grow from query to query.
ATTNPROF_HOST_DEVICE inline IndexRange seeing_queries(const AttentionMask& mask, IndexRange keys) {
  int first = 0;
  if (mask.causal) {
    first = keys.first - mask.causal_offset;
    first = first < 0 ? 0 : first;
  }
  return {first, mask.q_len};
}
