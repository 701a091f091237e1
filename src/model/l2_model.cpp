#include "model/l2_model.hpp"

#include <algorithm>
#include <cmath>

namespace attnprof {
namespace {

constexpr double mib = 1024.0 * 1024.0;
constexpr double segments_in_horizon = 256;

DeviceProfile scaled(DeviceProfile device, double scale) {
  for (L2Point& point : device.l2_curve) point.mebibytes /= scale;
  device.l2_bytes = static_cast<int64_t>(static_cast<double>(device.l2_bytes) / scale);
  device.l2_dirty_bytes = static_cast<int64_t>(static_cast<double>(device.l2_dirty_bytes) / scale);
  return device;
}

// Beyond it every access misses alike.
double horizon_bytes(const DeviceProfile& device) {
  return device.l2_curve.empty() ? static_cast<double>(device.l2_bytes)
                                 : device.l2_curve.back().mebibytes * mib;
}

double first_miss_bytes(const DeviceProfile& device) {
  for (const L2Point& point : device.l2_curve)
    if (point.miss_share > 0) return &point == device.l2_curve.data() ? 0 : (&point)[-1].mebibytes * mib;
  return horizon_bytes(device);
}

}  // namespace

double l2_miss_share(const DeviceProfile& device, double reuse_bytes) {
  const std::vector<L2Point>& curve = device.l2_curve;
  if (curve.empty()) return reuse_bytes > static_cast<double>(device.l2_bytes) ? 1 : 0;
  const double x = reuse_bytes / mib;
  if (x >= curve.back().mebibytes) return curve.back().miss_share;
  L2Point below{0, 0};
  for (const L2Point& above : curve) {
    if (x < above.mebibytes)
      return std::lerp(below.miss_share, above.miss_share,
                       (x - below.mebibytes) / (above.mebibytes - below.mebibytes));
    below = above;
  }
  return below.miss_share;
}

L2Model::L2Model(const DeviceProfile& device, std::vector<uint32_t> chunk_bytes, double scale)
    : device_(scaled(device, scale)),
      recency_(horizon_bytes(device_) / segments_in_horizon, horizon_bytes(device_)),
      first_miss_(first_miss_bytes(device_)),
      dirty_capacity_(static_cast<double>(device_.l2_dirty_bytes)) {
  chunks_.reserve(chunk_bytes.size());
  for (uint32_t bytes : chunk_bytes) chunks_.push_back({.bytes = bytes, .room = bytes});
}

double L2Model::share_of(const Chunk& chunk) const {
  const double distance = recency_.distance(chunk.stamp, chunk.room) + chunk.room;
  if (distance == ReuseDistance::far) return 1;
  return distance <= first_miss_ ? 0 : l2_miss_share(device_, distance);
}

void L2Model::read(uint32_t id, uint32_t bytes, Reader reader) {
  Chunk& chunk = chunks_[id];
  const bool new_pass = chunk.stamp == ReuseDistance::never || chunk.pass_bytes >= chunk.bytes;
  if (new_pass) {
    chunk.pass_share = static_cast<float>(share_of(chunk));
    chunk.pass_bytes = 0;
    lose_dirty(chunk, chunk.pass_share);
  }
  chunk.pass_bytes += bytes;
  traffic_.read_bytes += static_cast<double>(chunk.pass_share) * bytes;
  // Of a pass in parts the first reader counts: the others may have read other parts.
  const bool same = chunk.reader == nobody || chunk.reader == reader;
  if (new_pass || reader == several) chunk.reader = same ? reader : several;
  touch(chunk);
}

// The chunk is the newest; a change of readers changes its room.
void L2Model::touch(Chunk& chunk) {
  const uint32_t before = chunk.room;
  chunk.room = chunk.reader == several
                   ? static_cast<uint32_t>(std::lround(chunk.bytes * device_.l2_shared_room))
                   : chunk.bytes;
  chunk.stamp = recency_.touch(chunk.stamp, before, chunk.room);
}

void L2Model::write(uint32_t id, uint32_t bytes) {
  Chunk& chunk = chunks_[id];
  if (chunk.dirty > 0) lose_dirty(chunk, share_of(chunk));
  const float dirty = std::min(static_cast<float>(chunk.bytes), chunk.dirty + static_cast<float>(bytes));
  dirty_total_ += static_cast<double>(dirty) - static_cast<double>(chunk.dirty);
  chunk.dirty = dirty;
  chunk.last_write = ++writes_;
  chunk.pass_bytes = chunk.bytes;  // the next read is a new pass
  chunk.reader = nobody;           // copies of what was there before are void
  touch(chunk);
  dirty_order_.push_back({id, writes_});
  clean_oldest();
  if (dirty_order_.size() > 2 * chunks_.size() + 1024) forget_stale();
}

// What has been replaced by reads since it was written is in device memory already.
void L2Model::lose_dirty(Chunk& chunk, double share) {
  if (chunk.dirty <= 0 || share <= 0) return;
  const double lost = static_cast<double>(chunk.dirty) * share;
  traffic_.write_bytes += lost;
  dirty_total_ -= lost;
  chunk.dirty = share >= 1 ? 0.0f : static_cast<float>(static_cast<double>(chunk.dirty) - lost);
}

void L2Model::clean_oldest() {
  while (!dirty_order_.empty()) {
    const DirtyEntry oldest = dirty_order_.front();
    const bool stale = is_stale(oldest);
    if (!stale && dirty_total_ <= dirty_capacity_) return;
    if (!stale) lose_dirty(chunks_[oldest.chunk], 1);
    dirty_order_.pop_front();
  }
}

// Of a chunk the last write counts; the others stand behind one that stays dirty, and would pile up.
void L2Model::forget_stale() {
  std::erase_if(dirty_order_, [this](const DirtyEntry& entry) { return is_stale(entry); });
}

void L2Model::settle() {
  for (const DirtyEntry& entry : dirty_order_)
    if (!is_stale(entry)) lose_dirty(chunks_[entry.chunk], 1);
  dirty_order_.clear();
}

}  // namespace attnprof
