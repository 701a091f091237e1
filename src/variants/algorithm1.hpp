// FlashAttention's Algorithm 1 (Dao 2022): its block sizes, and what its tiles take on chip.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/tiling.hpp"
#include "schedule/variant.hpp"

namespace attnprof {

// Line 1: Bc = ceil(M / 4d), Br = min(Bc, d), for M elements of on-chip memory.
inline Tile algorithm1_tile(int64_t on_chip_elements, int64_t head_dim) {
  const int64_t bc = ceil_div(on_chip_elements, 4 * head_dim);
  return {static_cast<int>(std::min(bc, head_dim)), static_cast<int>(bc)};
}

// Elements of the tiles Q, K, V, S and O that the algorithm holds at once.
constexpr int64_t algorithm1_on_chip_elements(const Tile& tile, int64_t head_dim) {
  return 2 * (int64_t{tile.br} + tile.bc) * head_dim + int64_t{tile.br} * tile.bc;
}

}  // namespace attnprof
