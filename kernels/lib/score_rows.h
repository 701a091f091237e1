// Rows of S and P in device memory and how a softmax launch covers them; host and device agree through this
// file.
#pragma once

#include "host_device.h"

// Elements from one row of S or P to the next: rows start on a 32-byte sector, and 16-byte vectors never
// straddle the end of a row.
ATTNPROF_HOST_DEVICE constexpr int score_pitch(int kv_len) { return (kv_len + 15) / 16 * 16; }

// A thread keeps this many 16-byte vectors of its row in registers.
constexpr int softmax_vectors = 8;
constexpr int softmax_warps_per_block = 4;  // short rows share a block

ATTNPROF_HOST_DEVICE constexpr int softmax_warps_per_row(int kv_len, int element_bytes) {
  const int warp_bytes = 32 * softmax_vectors * 16;
  return (score_pitch(kv_len) * element_bytes + warp_bytes - 1) / warp_bytes;
}

ATTNPROF_HOST_DEVICE constexpr int softmax_rows_per_block(int kv_len, int element_bytes) {
  const int warps = softmax_warps_per_row(kv_len, element_bytes);
  return warps < softmax_warps_per_block ? softmax_warps_per_block / warps : 1;
}

// The longest row one block of 32 warps can keep.
constexpr int softmax_max_columns(int element_bytes) {
  return 32 * 32 * softmax_vectors * 16 / element_bytes;
}
