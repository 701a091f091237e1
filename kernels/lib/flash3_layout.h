// What flash3's host schedule and its kernels must agree on for FP8; plain C++ for both.
#pragma once

#ifdef __CUDACC__
#define ATTNPROF_HOST_DEVICE __host__ __device__
#else
#define ATTNPROF_HOST_DEVICE
#endif

// Keys are permuted within groups of this many, and a row of V^T is a multiple of it long: its rows then
// start on a 32-byte sector.
constexpr int v_column_group = 32;

// The column of V^T that holds key `key`; a permutation of each group of v_column_group.
ATTNPROF_HOST_DEVICE constexpr int v_column(int key) { return key; }

// The key in column `column` of V^T: the inverse.
ATTNPROF_HOST_DEVICE constexpr int v_key(int column) {
  const int first = column / v_column_group * v_column_group;
  for (int key = first; key < first + v_column_group; ++key)
    if (v_column(key) == column) return key;
  return -1;  // v_column is no permutation
}

// P is 2^probability_exponent exp(s - m) before it is rounded to e4m3, and O is divided by as much: of the
// largest, 1, 256 is left, under e4m3's 448, and of 2^-14 still a normal number.
constexpr int probability_exponent = 8;

// flash3_transpose_v: keys a block turns, and its threads.
constexpr int transpose_v_keys = 128;
constexpr int transpose_v_threads = 256;
