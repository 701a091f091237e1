// What of the SMs' traffic reaches device memory.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "device/device_profile.hpp"
#include "model/reuse_distance.hpp"

namespace attnprof {

// Share of an access that misses when `reuse_bytes` of other data were touched since the last one:
// interpolated from the device's curve, or a step at the L2's size where nothing was calibrated.
double l2_miss_share(const DeviceProfile& device, double reuse_bytes);

struct HbmTraffic {
  double read_bytes = 0;
  double write_bytes = 0;
};

// L2 as expected values: an access of a chunk misses by the share that its reuse distance has on the device's
// curve (measured by cyclic re-reads, so a chunk's own bytes are part of the distance); the first always
// misses. Writes fetch nothing, stay dirty up to the device's dirty capacity, oldest out first, and merge
// with what is still dirty of the same chunk. A chunk that several SMs have read since it was written takes
// the device's l2_shared_room, in its own distance and in that of others. `scale`: how many alike copies of
// this traffic run side by side; capacities are divided by it, and the caller multiplies.
class L2Model {
 public:
  using Reader = int32_t;  // an SM's number, or
  static constexpr Reader several = -1;

  L2Model(const DeviceProfile& device, std::vector<uint32_t> chunk_bytes, double scale = 1);

  void read(uint32_t chunk, uint32_t bytes, Reader reader);
  void write(uint32_t chunk, uint32_t bytes);
  // L2 adds to what it holds: what it does not, it reads first.
  void reduce(uint32_t chunk, uint32_t bytes, Reader reader) {
    read(chunk, bytes, reader);
    write(chunk, bytes);
  }
  void settle();  // everything dirty goes to device memory; L2 keeps it, clean
  void reset_counts() { traffic_ = {}; }

  // Of the host's memory, for this many chunks at the most.
  static double host_bytes(int64_t chunks) {
    return static_cast<double>(chunks) *
           static_cast<double>(sizeof(Chunk) + sizeof(uint32_t) + 2 * sizeof(DirtyEntry));
  }

  const HbmTraffic& traffic() const { return traffic_; }
  double dirty_bytes() const { return dirty_total_; }

 private:
  static constexpr Reader nobody = -2;

  struct Chunk {
    uint32_t bytes;
    uint32_t room;           // in L2: bytes, or more once several SMs have read it
    Reader reader = nobody;  // of a pass since it was written, or several
    ReuseDistance::Stamp stamp = ReuseDistance::never;
    // A chunk may be read in parts. The parts up to its size are one pass, with the share the first had.
    uint32_t pass_bytes = 0;
    float pass_share = 1;
    float dirty = 0;
    uint32_t last_write = 0;
  };
  struct DirtyEntry {
    uint32_t chunk;
    uint32_t write;
  };

  double share_of(const Chunk& chunk) const;
  void touch(Chunk& chunk);
  void lose_dirty(Chunk& chunk, double share);
  bool is_stale(const DirtyEntry& entry) const { return chunks_[entry.chunk].last_write != entry.write; }
  void clean_oldest();
  void forget_stale();

  DeviceProfile device_;  // with capacities divided by scale
  std::vector<Chunk> chunks_;
  ReuseDistance recency_;
  std::deque<DirtyEntry> dirty_order_;
  uint32_t writes_ = 0;
  double first_miss_;  // shortest distance that misses at all
  double dirty_total_ = 0;
  double dirty_capacity_;
  HbmTraffic traffic_;
};

}  // namespace attnprof
