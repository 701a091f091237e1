#include "model/reuse_distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>

namespace attnprof {
namespace {

// The definition, slowly: chunks in order of their last touch.
class LruStack {
 public:
  explicit LruStack(const std::vector<int64_t>& bytes) : bytes_(bytes) {}
  double touch(size_t chunk) {
    double above = 0;
    const auto found = std::ranges::find(order_, chunk);
    for (auto it = order_.begin(); it != found; ++it) above += static_cast<double>(bytes_[*it]);
    const bool seen = found != order_.end();
    if (seen) order_.erase(found);
    order_.push_front(chunk);
    return seen ? above : ReuseDistance::far;
  }

 private:
  const std::vector<int64_t>& bytes_;
  std::list<size_t> order_;
};

// Mixed strides and re-reads, long enough for segments to be joined and dropped many times.
TEST(ReuseDistance, FollowsAnLruStackWithinItsResolution) {
  constexpr double resolution = 500, horizon = 60'000;
  std::mt19937 random(7);
  std::vector<int64_t> bytes(2000);
  for (int64_t& size : bytes) size = 20 + static_cast<int64_t>(random() % 100);
  std::vector<ReuseDistance::Stamp> stamps(bytes.size(), ReuseDistance::never);
  ReuseDistance reuse(resolution, horizon);
  LruStack lru(bytes);
  int compared = 0;
  for (size_t step = 0; step < 60'000; ++step) {
    const size_t hot = random() % 300, chunk = step % 3 == 0 ? step / 3 % bytes.size() : hot;
    const double expected = lru.touch(chunk), actual = reuse.distance(stamps[chunk], bytes[chunk]);
    stamps[chunk] = reuse.touch(stamps[chunk], bytes[chunk]);
    if (expected > horizon) {
      EXPECT_GT(actual, horizon - 2 * resolution) << step;
    } else {
      ++compared;
      ASSERT_NEAR(actual, expected, 2 * resolution) << step;
    }
  }
  EXPECT_GT(compared, 30'000);
}

TEST(ReuseDistance, IsUnbiasedForACyclicWalk) {
  constexpr int chunks = 1000, size = 64;
  ReuseDistance reuse(1024, 1e9);
  std::vector<ReuseDistance::Stamp> stamps(chunks, ReuseDistance::never);
  double sum = 0;
  int count = 0;
  for (int round = 0; round < 50; ++round)
    for (auto& stamp : stamps) {
      if (round > 0) sum += reuse.distance(stamp, size), ++count;
      stamp = reuse.touch(stamp, size);
    }
  EXPECT_NEAR(sum / count, (chunks - 1) * size, 0.005 * chunks * size);
}

TEST(ReuseDistance, AChunkMayGrow) {
  for (const double resolution : {1.0, 1e6}) {  // each touch a segment of its own, and all in one
    ReuseDistance reuse(resolution, 1e9);
    const auto first = reuse.touch(ReuseDistance::never, 1000);
    auto grown = reuse.touch(ReuseDistance::never, 100);
    grown = reuse.touch(grown, 100, 300);
    const double expected = resolution == 1.0 ? 300 : 300 / 2.0;
    EXPECT_DOUBLE_EQ(reuse.distance(first, 1000), expected);
    EXPECT_DOUBLE_EQ(reuse.distance(grown, 300), resolution == 1.0 ? 0 : 1000 / 2.0);
  }
}

TEST(ReuseDistance, NeverSeenIsFar) {
  ReuseDistance reuse(10, 100);
  EXPECT_TRUE(std::isinf(reuse.distance(ReuseDistance::never, 0)));
}

}  // namespace
}  // namespace attnprof
