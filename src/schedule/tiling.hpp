// Arithmetic the schedules share.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/operands.hpp"
#include "problem/problem.hpp"
#include "problem/problem_fields.hpp"
#include "problem/visible.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

constexpr int64_t sector_floats = 8;  // of one 32-byte sector

// Tiles [first, end) of keys.
struct TileRange {
  int64_t first, end;
  int64_t count() const { return end - first; }
};

// Tiles of keys, in ascending order, each once.
class KeyTiles {
 public:
  void add(TileRange range);
  int64_t count() const;
  int64_t last() const { return ranges_[static_cast<size_t>(used_) - 1].end - 1; }  // of at least one
  bool has(int64_t tile) const;

  template <typename F>
  void for_each(F f) const {
    for (int r = 0; r < used_; ++r)
      for (int64_t j = at(r).first; j < at(r).end; ++j) f(j);
  }
  template <typename F>
  void for_each_from_last(F f) const {
    for (int r = used_ - 1; r >= 0; --r)
      for (int64_t j = at(r).end - 1; j >= at(r).first; --j) f(j);
  }

 private:
  const TileRange& at(int range) const { return ranges_[static_cast<size_t>(range)]; }

  std::array<TileRange, most_key_ranges> ranges_ = {};
  int used_ = 0;
};

// Tiles of `bc` keys that the query rows [row, row + rows) of slice `q_slice` need: those with at least one
// unmasked pair.
KeyTiles key_tiles(const Problem& p, int64_t q_slice, int64_t row, int64_t rows, int64_t bc);

// Rows [row, row + tile_rows) of a slice, all columns, clipped to the operand.
inline Region row_tile(const Operand& operand, int64_t slice, int64_t row, int64_t tile_rows) {
  return {operand.id, slice, row, std::min(tile_rows, operand.rows - row), 0, operand.cols};
}

// The keys of a tile, [key, key + keys), that a query row sees, counted from the tile's first.
KeyRanges visible_in_tile(const Problem& p, int64_t q_slice, int64_t row, int64_t key, int64_t keys);

// Reads `keys` keys from `key` on of K or V, as query slice `q_slice` finds them (problem/kv_view.hpp),
// clipped to the sequence: [keys, cols].
TileValues read_keys(const Problem& p, const Operand& k_or_v, int64_t q_slice, int64_t key, int64_t keys,
                     TileMachine& machine);

// The macros every kernel is compiled with (kernels/attention_params.h); of later fields of the problem those
// that are not at their absent value, so that kernels without them stay what they were.
inline std::vector<std::pair<std::string, std::string>> kernel_macros(const Problem& p, int br, int bc) {
  std::vector<std::pair<std::string, std::string>> macros = {
      {"DTYPE", std::to_string(static_cast<int>(p.dtype))},
      {"HEAD_DIM", std::to_string(p.head_dim)},
      {"TILE_BR", std::to_string(br)},
      {"TILE_BC", std::to_string(bc)},
      {"CAUSAL", p.mask == Mask::causal ? "1" : "0"}};
  for (const ProblemField& field : problem_fields())
    if (!field.macro.empty() && field.tells(p)) macros.emplace_back(field.macro, field.text(p));
  return macros;
}

}  // namespace attnprof
