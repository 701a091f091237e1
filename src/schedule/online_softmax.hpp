// The numbers of a flash tile: S = scale Q K^T, mask, online softmax, O += P V, as FlashAttention writes
// them.
#pragma once

#include <vector>

#include "problem/problem.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

struct QueryRow {
  int64_t slice;  // batch * heads + head
  int64_t row;
};

// Running state of Br query rows: row maximum m, row sum l, and O not yet divided by l.
struct OnlineSoftmax {
  std::vector<float> m;
  std::vector<float> l;
  TileValues o;

  OnlineSoftmax(int64_t rows, int64_t head_dim);
  // Adds the keys of one K, V tile. `first` and `key` are the tile's first query and key. P is rounded to the
  // problem's dtype before it multiplies V, as tensor cores take it.
  void add_tile(const Problem& p, const TileValues& q, QueryRow first, const TileValues& k,
                const TileValues& v, int64_t key);
  // O / l; rows that saw no key are zero.
  TileValues normalised() const;
};

}  // namespace attnprof
