// What mma_rate.cu and the host must agree on; plain C++ for both.
#pragma once

// 16 warps on an SM, four for each of its tensor cores.
constexpr int mma_rate_threads = 256;
constexpr int mma_rate_blocks_per_sm = 2;

// Independent accumulators of a warp: products of one do not wait for those of another.
constexpr int mma_rate_chains = 16;
