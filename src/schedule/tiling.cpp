#include "schedule/tiling.hpp"

#include "problem/kv_view.hpp"

namespace attnprof {

void KeyTiles::add(TileRange range) {
  if (used_ > 0 && at(used_ - 1).end >= range.first)
    ranges_[static_cast<size_t>(used_ - 1)].end = range.end;
  else
    ranges_[static_cast<size_t>(used_++)] = range;
}

int64_t KeyTiles::count() const {
  int64_t count = 0;
  for (int r = 0; r < used_; ++r) count += at(r).count();
  return count;
}

bool KeyTiles::has(int64_t tile) const {
  for (int r = 0; r < used_; ++r)
    if (at(r).first <= tile && tile < at(r).end) return true;
  return false;
}

KeyTiles key_tiles(const Problem& p, int64_t q_slice, int64_t row, int64_t rows, int64_t bc) {
  const int64_t sequence = q_slice / p.heads, last_row = std::min(row + rows, p.q_len) - 1;
  // Both ends of a range only grow from row to row: the last row has the ranges' ends, the first that sees
  // any key their beginnings.
  const KeyRanges last = visible(p, sequence, last_row);
  KeyRanges first = visible(p, sequence, row);
  while (first.count < last.count && row < last_row) first = visible(p, sequence, ++row);
  KeyTiles tiles;
  for (int i = 0; i < last.count; ++i) tiles.add({first.at[i].first / bc, ceil_div(last.at[i].end, bc)});
  return tiles;
}

KeyRanges visible_in_tile(const Problem& p, int64_t q_slice, int64_t row, int64_t key, int64_t keys) {
  const KeyRanges all = visible(p, q_slice / p.heads, row);
  KeyRanges in_tile{{}, 0};
  for (int i = 0; i < all.count; ++i) {
    const IndexRange part{static_cast<int>(std::max<int64_t>(all.at[i].first - key, 0)),
                          static_cast<int>(std::min<int64_t>(all.at[i].end - key, keys))};
    if (part.first < part.end) in_tile.at[in_tile.count++] = part;
  }
  return in_tile;
}

TileValues read_keys(const Problem& p, const Operand& k_or_v, int64_t q_slice, int64_t key, int64_t keys,
                     TileMachine& machine) {
  TileValues all;
  const int64_t end = std::min(key + keys, p.kv_len);
  KvView(p).for_each_piece(q_slice / p.heads, kv_head(p, q_slice), key, end,
                           [&](KvView::Place place, int64_t rows) {
                             TileValues piece = machine.read(row_tile(k_or_v, place.slice, place.row, rows));
                             if (all.rows == 0) {
                               all = std::move(piece);
                               return;
                             }
                             all.rows += piece.rows;
                             all.values.insert(all.values.end(), piece.values.begin(), piece.values.end());
                           });
  return all;
}

}  // namespace attnprof
