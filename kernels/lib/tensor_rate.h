// What mma_rate.cu, wgmma_rate.cu and the host must agree on; plain C++ for both.
#pragma once

constexpr int tensor_rate_threads = 256;

// mma.sync: 16 warps on an SM, four for each of its tensor cores.
constexpr int mma_rate_blocks_per_sm = 2;
// Independent accumulators of a warp: products of one do not wait for those of another. Where fp8 is
// converted to 16 bits first, as on Hopper, more of them would not fit into registers.
constexpr int mma_rate_chains(bool fp8) { return fp8 ? 8 : 16; }

// wgmma: one block of two warpgroups on an SM, each with its own m64n256 accumulators, so that the tensor
// cores have work while one of them waits. A round is one product with 128 bytes of the contraction: 64
// elements of 16 bits, 128 of 8.
constexpr int wgmma_rate_warpgroups = tensor_rate_threads / 128;
constexpr int wgmma_rate_rows = 64;      // of A, a warpgroup
constexpr int wgmma_rate_columns = 256;  // of B
constexpr int wgmma_rate_row_bytes = 128;
constexpr int wgmma_rate_smem_bytes =
    (wgmma_rate_warpgroups * wgmma_rate_rows + wgmma_rate_columns) * wgmma_rate_row_bytes;

// FLOPs that one block does in a round.
constexpr double mma_rate_round_flops(bool fp8) {
  return tensor_rate_threads / 32 * mma_rate_chains(fp8) * 2.0 * 16 * 8 * (fp8 ? 32 : 16);
}
constexpr double wgmma_rate_round_flops(bool fp8) {
  return wgmma_rate_warpgroups * 2.0 * wgmma_rate_rows * wgmma_rate_columns * wgmma_rate_row_bytes /
         (fp8 ? 1 : 2);
}
