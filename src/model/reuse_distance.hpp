// Unique bytes touched since a chunk was last touched, to a resolution that an L2 curve needs.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace attnprof {

// An LRU stack cut into segments of about `resolution` bytes, newest last. A chunk remembers the segment it
// was last touched in; its distance is what lies in newer ones and half of what shares its own. Beyond
// `horizon` bytes all is equally far, and is forgotten. Touch and distance cost a walk of a small Fenwick
// tree.
class ReuseDistance {
 public:
  using Stamp = uint32_t;
  static constexpr Stamp never = 0;
  static constexpr double far = std::numeric_limits<double>::infinity();

  ReuseDistance(double resolution_bytes, double horizon_bytes);

  // Unique bytes touched since a chunk of `bytes` was, itself not counted; `far` for never and beyond the
  // horizon.
  double distance(Stamp stamp, int64_t bytes) const;
  // Moves a chunk of `bytes` from `stamp` to now. `bytes_now`: what it counts from now on.
  Stamp touch(Stamp stamp, int64_t bytes, int64_t bytes_now);
  Stamp touch(Stamp stamp, int64_t bytes) { return touch(stamp, bytes, bytes); }

 private:
  int slot_of(Stamp stamp) const;
  Stamp first_stamp(int slot) const;
  void add(int slot, int64_t bytes);
  int64_t sum_to(int slot) const;
  void open_segment();
  void compact();

  double resolution_;
  double horizon_;
  // Slots in the order of their stamps: first the joined ones, each from a stamp of its own on, then one slot
  // a stamp. Stamps below all of them are beyond the horizon.
  std::vector<Stamp> joined_from_;
  Stamp single_from_ = 1;
  std::vector<int64_t> tree_;   // Fenwick tree over slots 1..
  std::vector<int64_t> bytes_;  // the same, slot by slot
  int64_t total_ = 0;           // in all slots but the newest
  Stamp newest_ = 1;
  int newest_slot_ = 1;
  int64_t newest_bytes_ = 0;
  int64_t newest_touched_ = 0;
};

}  // namespace attnprof
