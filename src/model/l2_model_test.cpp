#include "model/l2_model.hpp"

#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "testing/h200.hpp"

namespace attnprof {
namespace {

constexpr int64_t mib = 1024 * 1024;
constexpr uint32_t chunk_size = 8192;

// An L2 in front of one buffer.
struct Buffer {
  explicit Buffer(int64_t bytes, const DeviceProfile& device = h200(), double scale = 1)
      : chunks(static_cast<uint32_t>(bytes / chunk_size)),
        l2(device, std::vector<uint32_t>(chunks, chunk_size), scale) {}
  void read_all(L2Model::Reader reader = 0) {
    for (uint32_t i = 0; i < chunks; ++i) l2.read(i, chunk_size, reader);
  }
  // Share that comes from device memory when all is read again.
  double miss_share(L2Model::Reader reader) {
    l2.reset_counts();
    read_all(reader);
    return l2.traffic().read_bytes / bytes();
  }
  void write_all() {
    for (uint32_t i = 0; i < chunks; ++i) l2.write(i, chunk_size);
  }
  double bytes() const { return static_cast<double>(chunks) * chunk_size; }
  uint32_t chunks;
  L2Model l2;
};

TEST(L2Model, ACyclicReReadGivesTheCalibrationBack) {
  for (const auto& [size, share] : {std::pair{24, 0.0},
                                    {32, 0.015},
                                    {36, 0.06},
                                    {40, 0.20},
                                    {44, 0.51},
                                    {48, 0.87},
                                    {52, 0.98},
                                    {60, 1.00}}) {
    Buffer buffer(size * mib);
    buffer.read_all();
    EXPECT_DOUBLE_EQ(buffer.l2.traffic().read_bytes, buffer.bytes()) << "first reads all miss";
    buffer.l2.reset_counts();
    buffer.read_all();
    EXPECT_NEAR(buffer.l2.traffic().read_bytes / buffer.bytes(), share, 0.012) << size << " MiB";
  }
}

TEST(L2Model, TheCurveIsInterpolated) {
  EXPECT_DOUBLE_EQ(l2_miss_share(h200(), 42.0 * mib), (0.20 + 0.51) / 2);
  EXPECT_DOUBLE_EQ(l2_miss_share(h200(), 1.0 * mib), 0);
  EXPECT_DOUBLE_EQ(l2_miss_share(h200(), 500.0 * mib), 1);
}

TEST(L2Model, WithoutCalibrationL2KeepsItsSize) {
  const DeviceProfile& a100 = *find_profile("a100-sxm-80g");
  for (const auto& [size, share] : {std::pair{39, 0.0}, {41, 1.0}}) {
    Buffer buffer(size * mib, a100);
    buffer.read_all();
    buffer.l2.reset_counts();
    buffer.read_all();
    EXPECT_NEAR(buffer.l2.traffic().read_bytes / buffer.bytes(), share, 0.01) << size;
  }
}

TEST(L2Model, ASmallWriteStaysInL2AndSettlesInFull) {
  Buffer buffer(16 * mib);
  buffer.write_all();
  EXPECT_EQ(buffer.l2.traffic().write_bytes, 0);
  EXPECT_EQ(buffer.l2.traffic().read_bytes, 0) << "whole sectors fetch nothing";
  buffer.l2.settle();
  EXPECT_EQ(buffer.l2.traffic().write_bytes, 16 * mib);
  EXPECT_EQ(buffer.l2.dirty_bytes(), 0);
}

// Measured: of a 48 MiB write 20.7 MB reached DRAM before the kernel ended.
TEST(L2Model, ALargeWriteLeavesTheDirtyCapacity) {
  Buffer buffer(48 * mib);
  buffer.write_all();
  EXPECT_LE(buffer.l2.dirty_bytes(), 29.5e6);
  EXPECT_NEAR(buffer.l2.traffic().write_bytes, 20.7e6, 0.3e6);
  buffer.l2.settle();
  EXPECT_EQ(buffer.l2.traffic().write_bytes, 48 * mib);
}

TEST(L2Model, RewritingDirtyDataMerges) {
  Buffer small(16 * mib), large(80 * mib);
  for (int round = 0; round < 5; ++round) small.write_all(), large.write_all();
  small.l2.settle(), large.l2.settle();
  EXPECT_EQ(small.l2.traffic().write_bytes, 16 * mib);
  EXPECT_NEAR(large.l2.traffic().write_bytes, 5 * 80.0 * mib, 1);
}

TEST(L2Model, WhatWasJustWrittenIsReadFromL2) {
  Buffer buffer(16 * mib);
  buffer.write_all();
  buffer.read_all();
  EXPECT_EQ(buffer.l2.traffic().read_bytes, 0);
}

TEST(L2Model, ReadsPushDirtyDataOut) {
  Buffer buffer(100 * mib);
  const uint32_t written = 16 * mib / chunk_size;
  for (uint32_t i = 0; i < written; ++i) buffer.l2.write(i, chunk_size);
  for (uint32_t i = written; i < buffer.chunks; ++i) buffer.l2.read(i, chunk_size, 0);
  buffer.l2.reset_counts();
  for (uint32_t i = 0; i < written; ++i) buffer.l2.write(i, chunk_size);
  EXPECT_EQ(buffer.l2.traffic().write_bytes, 16 * mib) << "the first version was written back";
}

TEST(L2Model, AChunkReadInPartsMissesOnce) {
  L2Model l2(h200(), {chunk_size});
  for (int part = 0; part < 8; ++part) l2.read(0, chunk_size / 8, 0);
  EXPECT_EQ(l2.traffic().read_bytes, chunk_size);
  for (int part = 0; part < 8; ++part) l2.read(0, chunk_size / 8, 0);
  EXPECT_EQ(l2.traffic().read_bytes, chunk_size);
}

// 33 MiB that both halves hold take what 44 MiB read by one SM take: half of a re-read misses.
TEST(L2Model, WhatSeveralSmsReadTakesMoreRoom) {
  for (const auto& [first, second] : {std::pair{L2Model::several, L2Model::several}, {0, 1}}) {
    Buffer shared(33 * mib);
    shared.read_all(first);
    shared.read_all(second);
    EXPECT_NEAR(shared.miss_share(second), 0.51, 0.03);
  }
  Buffer own(33 * mib);
  own.read_all(7);
  own.read_all(7);
  EXPECT_LT(own.miss_share(7), 0.03) << "one SM's data keeps one room, however often it reads";
}

TEST(L2Model, AWriteEndsSharing) {
  Buffer buffer(33 * mib);
  buffer.read_all(L2Model::several);
  buffer.write_all();
  EXPECT_LT(buffer.miss_share(3), 0.03);
}

TEST(L2Model, PartsOfAChunkThatDifferentSmsReadAreNotShared) {
  Buffer buffer(33 * mib);
  const auto read_halves = [&] {
    for (uint32_t i = 0; i < buffer.chunks; ++i)
      for (L2Model::Reader half : {0, 1}) buffer.l2.read(i, chunk_size / 2, half);
  };
  read_halves();
  buffer.l2.reset_counts();
  read_halves();
  EXPECT_LT(buffer.l2.traffic().read_bytes / buffer.bytes(), 0.03);
}

TEST(L2Model, AlikeCopiesShareTheCapacity) {
  Buffer one(11 * mib, h200(), 4);
  one.read_all();
  one.l2.reset_counts();
  one.read_all();
  EXPECT_NEAR(one.l2.traffic().read_bytes / one.bytes(), 0.51, 0.03);
}

}  // namespace
}  // namespace attnprof
