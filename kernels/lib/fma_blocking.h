// How a block of threads shares an m x n product on the FMA pipes: every thread owns a square of outputs.
// Host and device agree through this file. m and n are multiples of 16.
#pragma once

constexpr int fma_pad = 4;  // floats: spreads transposed stores over banks, keeps rows 16-byte aligned

// Contraction elements staged in shared memory at a time: one 32-byte sector of a row.
constexpr int fma_depth(int element_bytes) { return 32 / element_bytes; }

// Side of a thread's square: 8 halves the shared-memory reads of 4, but needs a tile big enough for two
// warps.
constexpr int fma_square(int m, int n) { return m * n >= 64 * 64 ? 8 : 4; }

constexpr int fma_owners(int m, int n) { return m * n / (fma_square(m, n) * fma_square(m, n)); }
constexpr int fma_threads(int m, int n) { return (fma_owners(m, n) + 31) / 32 * 32; }
// A square of 64 sums and its operands need 128 registers: 512 threads fill the register file.
constexpr int fma_max_threads = 512;
// Blocks an SM the compiler must leave registers for: two of 256 threads, unless wide rows of B need more
// registers on their way to shared memory; small blocks are not worth spills.
constexpr int fma_blocks_per_sm(int m, int n) { return fma_threads(m, n) == 256 && n <= 128 ? 2 : 1; }

// Shared memory: two stages of both factors in fp32; afterwards the product in its storage type, from where
// it leaves in whole sectors.
constexpr int fma_smem_bytes(int m, int n, int element_bytes) {
  const int stages = 2 * fma_depth(element_bytes) * (m + n + 2 * fma_pad) * 4;
  const int product = m * n * element_bytes;
  return stages > product ? stages : product;
}
