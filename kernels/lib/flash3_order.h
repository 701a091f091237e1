// The order in which flash3's persistent blocks take up tiles of Q; shared by host (schedule) and device.
#pragma once

#include "host_device.h"

struct Flash3Tile {
  int q_tile;
  int slice;  // batch * heads + head
};

// Heads whose K and V together take about this much are worked on together: they stay in L2.
constexpr int flash3_group_kib = 24 << 10;
ATTNPROF_HOST_DEVICE constexpr int flash3_kv_kib(long long kv_len, long long head_dim, int element_bytes) {
  return static_cast<int>(2 * kv_len * head_dim * element_bytes / 1024);
}

// Full: head after head. Causal: the long tiles (last queries) of a group of heads first, so that short ones
// fill the gaps at its end. Where heads do not divide into groups the first group is the small one: a small
// last one would end in long tiles.
struct Flash3Order {
  int q_tiles;
  int slices;
  int width;    // slices of a group; 0: full mask
  int missing;  // slices that the first group lacks

  // `share`: query heads a kv head; `kv_kib`: flash3_kv_kib of one kv head.
  ATTNPROF_HOST_DEVICE static Flash3Order make(int q_tiles, int slices, int share, int kv_kib, bool causal) {
    if (!causal) return {q_tiles, slices, 0, 0};
    const int kv_heads = slices / share;
    const int most = flash3_group_kib / (kv_kib > 0 ? kv_kib : 1);
    const int groups = most < 1 ? kv_heads : most < kv_heads ? kv_heads / most : 1;
    const int width = (kv_heads + groups - 1) / groups * share;
    return {q_tiles, slices, width, (width - slices % width) % width};
  }
  ATTNPROF_HOST_DEVICE int tiles() const { return q_tiles * slices; }
  ATTNPROF_HOST_DEVICE Flash3Tile tile(int index) const {
    if (width == 0) return {index % q_tiles, index / q_tiles};
    const int first = (index / q_tiles + missing) / width * width - missing;  // the group's, if it were whole
    const int begin = first > 0 ? first : 0, here = first + width - begin;
    const int inside = index - begin * q_tiles;
    return {q_tiles - 1 - inside / here, begin + inside % here};
  }
};
