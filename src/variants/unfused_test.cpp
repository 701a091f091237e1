#include <fmt/format.h>
#include <gmock/gmock.h>

#include "lib/score_rows.h"
#include "problem/flops.hpp"
#include "schedule/tiling.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Optional;

const Variant& naive() { return *find_variant("naive"); }
const Variant& standard() { return *find_variant("standard"); }

Problem square(int64_t n, int64_t d = 64, Mask mask = Mask::full) {
  return {.mask = mask, .heads = 1, .kv_heads = 1, .q_len = n, .kv_len = n, .head_dim = d};
}

std::string name(const Problem& p) {
  return fmt::format("{} {} b{} h{}/{} q{} k{} d{}", to_string(p.dtype), to_string(p.mask), p.batch, p.heads,
                     p.kv_heads, p.q_len, p.kv_len, p.head_dim);
}

void expect_right(const Variant& variant, const Problem& p, const Tile& tile) {
  SCOPED_TRACE(fmt::format("{} {}x{} {}", variant.name, tile.br, tile.bc, name(p)));
  EXPECT_EQ(variant.unsupported(p, tile, test_device()), std::nullopt);
  const Verification result = verify_against_reference(run_variant(variant, p, tile, true), p);
  EXPECT_EQ(result.verified, "yes") << "relative error " << result.rel_err.value_or(-1);
}

// Lengths below, at and above a tile, more queries than keys (rows that see nothing) and fewer, GQA, MQA.
std::vector<Problem> shapes() {
  std::vector<Problem> all;
  const auto add = [&](int64_t batch, int64_t heads, int64_t kv_heads, int64_t q_len, int64_t kv_len,
                       int64_t d) {
    for (Mask mask : {Mask::full, Mask::causal})
      for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16})
        all.push_back({Pass::forward, dtype, mask, batch, heads, kv_heads, q_len, kv_len, d});
  };
  add(1, 1, 1, 1, 1, 16);
  add(2, 2, 2, 17, 17, 32);
  add(1, 2, 2, 129, 129, 64);
  add(1, 4, 2, 40, 150, 16);
  add(2, 4, 1, 150, 40, 16);
  add(1, 3, 1, 1, 129, 48);
  return all;
}

TEST(Naive, EqualsTheReference) {
  for (const Problem& p : shapes())
    for (const Tile& tile : {Tile{64, 64}, Tile{16, 48}, Tile{128, 32}}) expect_right(naive(), p, tile);
}

TEST(Standard, EqualsTheReference) {
  for (const Problem& p : shapes()) expect_right(standard(), p, Tile{});
  expect_right(standard(), square(300, 144), Tile{});  // several panels, several column tiles
}

int64_t score_bytes(const Traffic& t) {
  return t.read.at("S") + t.read.at("P") + t.written.at("S") + t.written.at("P");
}

// S and P are written once and read once, 8 N^2 bytes a head in fp16.
TEST(Unfused, ScoresCostEightNSquaredBytes) {
  for (int64_t n : {512, 1024, 4096, 16384}) {
    const Problem p = square(n);
    EXPECT_EQ(score_bytes(run_variant(naive(), p, {128, 128}, false).traffic), 8 * n * n);
    EXPECT_EQ(score_bytes(run_variant(standard(), p, {}, false).traffic), 8 * n * n);
  }
  EXPECT_NEAR(8.0 * 512 * 512, 2.1e6, 0.05e6);
  EXPECT_NEAR(8.0 * 16384 * 16384, 2.1e9, 0.05e9);
}

// Q once for every kv tile, K once for every q tile, V once for every q tile, O once.
TEST(Naive, TilesAreReadAsOftenAsTheirOpponentsHaveTiles) {
  const Problem p = square(1024, 128);
  const int64_t tensor = 1024 * 128 * 2;
  const Traffic t = run_variant(naive(), p, {64, 128}, false).traffic;
  EXPECT_EQ(t.read.at("Q"), 8 * tensor);
  EXPECT_EQ(t.read.at("K"), 16 * tensor);
  EXPECT_EQ(t.read.at("V"), 16 * tensor);
  EXPECT_EQ(t.written.at("O"), tensor);
  EXPECT_EQ(t.operations(Unit::fma), useful_flops(p));
  EXPECT_EQ(t.operations(Unit::tensor), 0);
}

// Causal, T tiles a side: T (T + 1) / 2 tiles of S are written, and of P written and read; a row of S is read
// to the end of its last visible sector.
TEST(Naive, CausalTilesAboveTheDiagonalAreLeftOut) {
  constexpr int64_t n = 512, side = 64, tiles = n / side;
  const Problem p = square(n, 64, Mask::causal);
  const Traffic t = run_variant(naive(), p, {side, side}, false).traffic;
  const int64_t lower = tiles * (tiles + 1) / 2;
  EXPECT_EQ(t.written.at("S"), lower * side * side * 2);
  EXPECT_EQ(t.written.at("P"), lower * side * side * 2);
  EXPECT_EQ(t.read.at("P"), lower * side * side * 2);
  EXPECT_EQ(t.read.at("S"), (n / 16) * (n / 16 + 1) / 2 * 16 * 16 * 2);
  EXPECT_EQ(t.read.at("Q"), lower * side * 64 * 2);
  EXPECT_EQ(t.read.at("K"), lower * side * 64 * 2);
  EXPECT_EQ(t.read.at("V"), lower * side * 64 * 2);
  EXPECT_EQ(t.operations(Unit::fma), lower * 4 * side * side * 64);
  EXPECT_EQ(t.operations(Unit::exp), 2 * unmasked_pairs(p));
}

// N = 1000 is no multiple of the tile, nor of a sector of fp16: rows are padded to 1008.
TEST(Naive, RaggedLengthsMoveWholeSectorsAndNoMore) {
  const Traffic t = run_variant(naive(), square(1000), {128, 128}, false).traffic;
  const int64_t scores = 1000 * 1008 * 2;
  EXPECT_EQ(t.written.at("S"), scores);
  EXPECT_EQ(t.read.at("S"), scores);
  EXPECT_EQ(t.written.at("P"), scores);
  EXPECT_EQ(t.read.at("P"), scores);
  EXPECT_EQ(t.read.at("K"), 8 * 1000 * 64 * 2);
}

// Frameworks' products know no mask: causal moves what full does.
TEST(Standard, CausalMovesTheSameBytes) {
  const Traffic full = run_variant(standard(), square(512), {}, false).traffic;
  const Traffic causal = run_variant(standard(), square(512, 64, Mask::causal), {}, false).traffic;
  EXPECT_EQ(full.read, causal.read);
  EXPECT_EQ(full.written, causal.written);
  EXPECT_EQ(causal.operations(Unit::tensor), 4 * 512 * 512 * 64);
}

// One product for a kv head, over the stacked rows of its query heads: K is read for these once.
TEST(Standard, QueryHeadsOfAGroupShareOneProduct) {
  Problem p = square(1, 128);
  p.heads = 32, p.kv_heads = 8, p.kv_len = 4096;
  const Traffic t = run_variant(standard(), p, {}, false).traffic;
  EXPECT_EQ(t.read.at("K"), 8 * 4096 * 128 * 2);
  const auto steps = standard().steps(p, {}, test_device());
  const auto& gemm = std::get<GemmLaunch>(steps[0].launch);
  EXPECT_EQ(gemm.m, 4);
  EXPECT_EQ(gemm.count, 8);
  EXPECT_EQ(gemm.alpha, 1);
  EXPECT_FALSE(steps[0].schedule.exact);
  EXPECT_TRUE(steps[1].schedule.exact);
}

TEST(Standard, Fp32RunsOnTheFmaPipes) {
  Problem p = square(128);
  p.dtype = Dtype::fp32;
  const Traffic t = run_variant(standard(), p, {}, false).traffic;
  EXPECT_EQ(t.operations(Unit::tensor), 0);
  EXPECT_EQ(t.operations(Unit::fma), useful_flops(p));
}

TEST(Standard, RefusesATile) {
  EXPECT_THAT(standard().unsupported(square(512), {64, 64}, test_device()),
              Optional(HasSubstr("takes no tile")));
}

TEST(Naive, RefusesWhatItCannotRunWithTheNumbers) {
  EXPECT_THAT(naive().unsupported(square(512, 72), {64, 64}, test_device()), Optional(HasSubstr("not 72")));
  EXPECT_THAT(naive().unsupported(square(512), {24, 64}, test_device()), Optional(HasSubstr("not 24x64")));
  EXPECT_THAT(naive().unsupported(square(512), {512, 256}, test_device()),
              Optional(HasSubstr("512 x 256 needs 2048 threads")));
  EXPECT_THAT(naive().unsupported(square(65537), {64, 64}, test_device()),
              Optional(HasSubstr("65536 keys in fp16 at most, the case has 65537")));
  EXPECT_EQ(naive().unsupported(square(65536), {64, 64}, test_device()), std::nullopt);
}

TEST(Naive, DefaultTileIsSmallerWhereBigBlocksWouldLeaveSmsIdle) {
  Problem p = square(4096, 128);
  p.heads = p.kv_heads = 16;
  EXPECT_EQ(naive().default_tile(p, test_device()).tile, (Tile{128, 128}));
  p.q_len = p.kv_len = 512;
  EXPECT_EQ(naive().default_tile(p, test_device()).tile, (Tile{64, 64}));
}

// The launch covers every row: device code derives the same split from kv_len alone.
TEST(Unfused, SoftmaxLaunchCoversEveryRow) {
  for (int64_t kv_len : {1, 1000, 2048, 2049, 4096, 8192, 65536}) {
    Problem p = square(100);
    p.kv_len = kv_len;
    const auto steps = standard().steps(p, {}, test_device());
    const auto& kernel = std::get<KernelLaunch>(steps[1].launch);
    const int n = static_cast<int>(kv_len);
    EXPECT_GE(kernel.grid.x * softmax_rows_per_block(n, 2), 100) << kv_len;
    EXPECT_EQ(kernel.threads, 32 * softmax_warps_per_row(n, 2) * softmax_rows_per_block(n, 2)) << kv_len;
    EXPECT_LE(kernel.threads, 1024) << kv_len;
    EXPECT_GE(32 * 8 * 8 * softmax_warps_per_row(n, 2), kv_len);
  }
}

}  // namespace
}  // namespace attnprof
