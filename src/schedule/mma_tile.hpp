// What a tile costs a kernel built on kernels/lib/warp_tile.cuh: a warp keeps S and O of its query rows in
// registers, in mma.sync accumulators.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "problem/problem.hpp"
#include "schedule/variant.hpp"

namespace attnprof {

constexpr int mma_rows = 16;  // M of mma.sync.m16n8k16
constexpr int mma_max_registers = 255;

// Registers a thread needs for the fp32 accumulators of S and O alone.
int mma_accumulators(int64_t head_dim, int bc, int warp_rows);

// Registers a thread needs: accumulators of S and O for `warp_rows` query rows, and, from compiling the
// kernels, what fragments, addresses and row statistics take.
int mma_registers(int64_t head_dim, int bc, int warp_rows);

// Registers a thread may have with `threads` in a block and `blocks` on an SM: 64 Ki a SM, given in eights.
int available_registers(int threads, int blocks);

// Why `min_blocks` blocks do not fit an SM's shared memory, as a sentence; nothing if they do.
std::optional<std::string> blocks_lack_smem(int min_blocks, int64_t smem_bytes, const DeviceProfile& device);

// Why no tensor-core kernel can run this problem and tile with `warp_rows` rows a warp; nothing if it can.
std::optional<std::string> mma_unsupported(std::string_view variant, const Problem& p, const Tile& tile,
                                           int warp_rows);

}  // namespace attnprof
