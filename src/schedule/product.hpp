// Matrix products on the CPU, fp32, for schedules that carry numbers.
#pragma once

#include "schedule/tile_machine.hpp"

namespace attnprof {

// c (m x n) += a (m x k) b, with b k x n. Where a has more columns than b has rows, k is b's: the padding of
// a counts for nothing.
void add_product(const TileValues& a, const TileValues& b, TileValues& c);
// The same with b given as n x k.
void add_product_transposed(const TileValues& a, const TileValues& b, TileValues& c);

TileValues transposed(const TileValues& tile);

// rows x cols zeros.
TileValues zero_tile(int64_t rows, int64_t cols);

}  // namespace attnprof
