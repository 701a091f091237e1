#include "model/reuse_distance.hpp"

#include <algorithm>

namespace attnprof {
namespace {

constexpr int slot_count = 2048;

}  // namespace

ReuseDistance::ReuseDistance(double resolution_bytes, double horizon_bytes)
    : resolution_(resolution_bytes),
      horizon_(horizon_bytes),
      tree_(slot_count + 1, 0),
      bytes_(slot_count + 1, 0) {}

int ReuseDistance::slot_of(Stamp stamp) const {
  if (stamp == never) return 0;
  if (stamp >= single_from_) return static_cast<int>(joined_from_.size() + 1 + (stamp - single_from_));
  return static_cast<int>(std::ranges::upper_bound(joined_from_, stamp) - joined_from_.begin());
}

double ReuseDistance::distance(Stamp stamp, int64_t bytes) const {
  if (stamp == newest_) return static_cast<double>(newest_bytes_ - bytes) / 2;
  const int slot = slot_of(stamp);
  if (slot == 0) return far;
  const int64_t beside = bytes_[static_cast<size_t>(slot)] - bytes;
  return static_cast<double>(total_ - sum_to(slot) + newest_bytes_) + static_cast<double>(beside) / 2;
}

ReuseDistance::Stamp ReuseDistance::touch(Stamp stamp, int64_t bytes, int64_t bytes_now) {
  if (stamp == newest_) {
    newest_bytes_ += bytes_now - bytes;
    return newest_;
  }
  if (const int slot = slot_of(stamp); slot > 0) {
    add(slot, -bytes);
    total_ -= bytes;
  }
  newest_bytes_ += bytes_now;
  newest_touched_ += bytes_now;
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
  ++newest_slot_;
}

// Joins segments that have thinned out with their neighbours, up to the resolution, and drops those beyond
// the horizon.
void ReuseDistance::compact() {
  std::vector<int64_t> joined;  // newest first
  std::vector<Stamp> from;
  double covered = 0;
  for (int slot = slot_count; slot >= 1 && covered <= horizon_; --slot) {
    const int64_t bytes = bytes_[static_cast<size_t>(slot)];
    if (joined.empty() || static_cast<double>(joined.back() + bytes) > resolution_) {
      joined.push_back(0);
      from.push_back(0);
    }
    joined.back() += bytes;
    from.back() = first_stamp(slot);
    covered += static_cast<double>(bytes);
  }
  std::ranges::reverse(joined);
  std::ranges::reverse(from);
  joined_from_ = std::move(from);
  single_from_ = newest_;
  newest_slot_ = static_cast<int>(joined.size());
  std::ranges::fill(tree_, 0);
  std::ranges::fill(bytes_, 0);
  total_ = 0;
  for (size_t i = 0; i < joined.size(); ++i) {
    add(static_cast<int>(i) + 1, joined[i]);
    total_ += joined[i];
  }
}

ReuseDistance::Stamp ReuseDistance::first_stamp(int slot) const {
  const auto index = static_cast<size_t>(slot) - 1;
  return index < joined_from_.size() ? joined_from_[index]
                                     : single_from_ + static_cast<Stamp>(index - joined_from_.size());
}

}  // namespace attnprof
