#include "model/reuse_distance.hpp"

#include <algorithm>

namespace attnprof {
namespace {

constexpr int slot_count = 2048;

}  // namespace

ReuseDistance::ReuseDistance(double resolution_bytes, double horizon_bytes)
    : resolution_(resolution_bytes),
      horizon_(horizon_bytes),
      slots_{1},
      tree_(slot_count + 1, 0),
      bytes_(slot_count + 1, 0) {}

int ReuseDistance::slot_of(Stamp stamp) const { return stamp < first_ ? 0 : slots_[stamp - first_]; }

double ReuseDistance::distance(Stamp stamp) const {
  if (stamp == newest_) return static_cast<double>(newest_bytes_) / 2;
  const int slot = slot_of(stamp);
  if (slot == 0) return far;
  const auto own = static_cast<double>(bytes_[static_cast<size_t>(slot)]);
  return static_cast<double>(total_ - sum_to(slot) + newest_bytes_) + own / 2;
}

ReuseDistance::Stamp ReuseDistance::touch(Stamp stamp, int64_t bytes) {
  if (stamp == newest_) return newest_;
  if (const int slot = slot_of(stamp); slot > 0) {
    add(slot, -bytes);
    total_ -= bytes;
  }
  newest_bytes_ += bytes;
  newest_touched_ += bytes;
  const Stamp now = newest_;
  if (static_cast<double>(newest_touched_) >= resolution_) open_segment();
  return now;
}

void ReuseDistance::add(int slot, int64_t bytes) {
  bytes_[static_cast<size_t>(slot)] += bytes;
  for (int i = slot; i <= slot_count; i += i & -i) tree_[static_cast<size_t>(i)] += bytes;
}

int64_t ReuseDistance::sum_to(int slot) const {
  int64_t sum = 0;
  for (int i = slot; i > 0; i -= i & -i) sum += tree_[static_cast<size_t>(i)];
  return sum;
}

void ReuseDistance::open_segment() {
  add(newest_slot_, newest_bytes_);
  total_ += newest_bytes_;
  newest_bytes_ = newest_touched_ = 0;
  ++newest_;
  if (newest_slot_ == slot_count) compact();
  slots_.push_back(++newest_slot_);
}

// Renumbers: segments that have thinned out are joined with their neighbours up to the resolution, and those
// beyond the horizon are dropped.
void ReuseDistance::compact() {
  std::vector<int64_t> joined;              // newest first
  std::vector<int> target(slot_count + 1);  // old slot -> position in joined, -1 dropped
  double covered = 0;
  for (int slot = slot_count; slot >= 1; --slot) {
    const int64_t bytes = bytes_[static_cast<size_t>(slot)];
    if (covered > horizon_) {
      target[static_cast<size_t>(slot)] = -1;
      total_ -= bytes;
      continue;
    }
    if (joined.empty() || static_cast<double>(joined.back() + bytes) > resolution_) joined.push_back(0);
    joined.back() += bytes;
    target[static_cast<size_t>(slot)] = static_cast<int>(joined.size()) - 1;
    covered += static_cast<double>(bytes);
  }
  const auto count = static_cast<int>(joined.size());
  size_t dropped = 0;
  for (int& slot : slots_) {
    const int position = target[static_cast<size_t>(slot)];
    if (position < 0) ++dropped;
    slot = count - position;
  }
  slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(dropped));
  first_ += static_cast<Stamp>(dropped);
  std::ranges::fill(tree_, 0);
  std::ranges::fill(bytes_, 0);
  for (int position = 0; position < count; ++position)
    add(count - position, joined[static_cast<size_t>(position)]);
  newest_slot_ = count;
}

}  // namespace attnprof
