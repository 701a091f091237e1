#include "model/chunk_grid.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

namespace attnprof {
namespace {

OperandList scores(int64_t rows, int64_t cols) {
  return {{"S", Role::workspace, Init::poison, ElementType::fp16, 1, 2, rows, cols, cols, operand_workspace}};
}

Access tile(int32_t row, int32_t rows, int32_t col, int32_t cols) {
  return {operand_workspace, 0, row, rows, col, cols, AccessKind::read};
}

std::map<uint32_t, int64_t> touched(const ChunkGrid& grid, const Access& access) {
  std::map<uint32_t, int64_t> chunks;
  grid.for_each(access, [&](uint32_t chunk, uint32_t bytes) { chunks[chunk] += bytes; });
  return chunks;
}

TEST(ChunkGrid, TilesAndRowsMeetInTheSmallestTiles) {
  const ChunkGrid grid(scores(256, 512), {tile(0, 128, 0, 128), tile(64, 64, 64, 64), tile(3, 1, 0, 512)},
                       1000);
  EXPECT_EQ(grid.size(), 2 * 4 * 8);
  EXPECT_EQ(touched(grid, tile(64, 64, 64, 64)).size(), 1u);
  EXPECT_EQ(touched(grid, tile(0, 128, 0, 128)).size(), 4u);
  EXPECT_EQ(touched(grid, tile(3, 1, 0, 512)).size(), 8u);
}

TEST(ChunkGrid, ClippedTilesSayNothing) {
  const ChunkGrid grid(scores(1000, 1000), {tile(0, 128, 0, 128), tile(896, 104, 896, 104)}, 1000);
  EXPECT_EQ(grid.size(), 2 * 8 * 8);
}

TEST(ChunkGrid, EveryByteOfAnAccessLandsInExactlyOneChunk) {
  const ChunkGrid grid(scores(1000, 1000), {tile(0, 48, 0, 80)}, 10'000);
  const std::vector<uint32_t> sizes = grid.chunk_bytes();
  EXPECT_EQ(static_cast<int64_t>(sizes.size()), grid.size());
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}), 2 * 1000 * 1000 * 2);
  int64_t bytes = 0;
  for (const auto& [chunk, part] : touched(grid, tile(17, 200, 33, 500))) {
    EXPECT_LE(part, sizes[chunk]);
    bytes += part;
  }
  EXPECT_EQ(bytes, 200 * 500 * 2);
}

TEST(ChunkGrid, IsCoarsenedBelowTheLimit) {
  const ChunkGrid grid(scores(1024, 1024), {tile(0, 16, 0, 16)}, 600);
  EXPECT_LE(grid.size(), 600);
  EXPECT_GT(grid.size(), 150);
  const std::vector<uint32_t> sizes = grid.chunk_bytes();
  EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), int64_t{0}), 2 * 1024 * 1024 * 2);
}

}  // namespace
}  // namespace attnprof
