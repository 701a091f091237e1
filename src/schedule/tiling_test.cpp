#include "schedule/tiling.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace attnprof {
namespace {

TEST(KeyTiles, AreThoseWithAPairThatTheMaskLeaves) {
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const int64_t q_len : {5, 40})
      for (const int64_t kv_len : {5, 40}) {
        const Problem p{.mask = mask, .heads = 2, .kv_heads = 1, .q_len = q_len, .kv_len = kv_len};
        for (const int64_t rows : {1, 16})
          for (int64_t row = 0; row < q_len; row += rows) {
            std::vector<int64_t> expected, forwards, backwards;
            for (int64_t tile = 0; tile * 8 < kv_len; ++tile)
              if (mask == Mask::full || tile * 8 <= std::min(row + rows, q_len) - 1 + kv_len - q_len)
                expected.push_back(tile);
            const KeyTiles tiles = key_tiles(p, 1, row, rows, 8);
            tiles.for_each([&](int64_t tile) { forwards.push_back(tile); });
            tiles.for_each_from_last([&](int64_t tile) { backwards.push_back(tile); });
            EXPECT_EQ(forwards, expected);
            std::ranges::reverse(backwards);
            EXPECT_EQ(backwards, expected);
            EXPECT_EQ(tiles.count(), std::ssize(expected));
            for (int64_t tile = 0; tile * 8 < kv_len; ++tile)
              EXPECT_EQ(tiles.has(tile), std::ranges::find(expected, tile) != expected.end());
            if (!expected.empty()) {
              EXPECT_EQ(tiles.last(), expected.back());
            }
          }
      }
}

// As a window beside the first keys has them.
TEST(KeyTiles, AreCountedOnceWhereRangesMeet) {
  KeyTiles apart;
  apart.add({0, 2});
  apart.add({5, 7});
  EXPECT_EQ(apart.count(), 4);
  EXPECT_FALSE(apart.has(3));
  EXPECT_EQ(apart.last(), 6);
  KeyTiles meeting;
  meeting.add({0, 3});
  meeting.add({2, 7});
  EXPECT_EQ(meeting.count(), 7);
  std::vector<int64_t> seen;
  meeting.for_each([&](int64_t tile) { seen.push_back(tile); });
  EXPECT_EQ(seen, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6}));
}

}  // namespace
}  // namespace attnprof
