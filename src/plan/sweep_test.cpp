#include "plan/sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/error.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SweepAxes small() {
  SweepAxes axes;
  axes.variants = {"flash2"};
  axes.seqlens = {512};
  axes.fields["head_dim"] = {"64"};
  return axes;
}

std::vector<Case> expand_h200(const SweepAxes& axes) { return expand(axes, h200(), h200().hbm_bytes); }

std::string refusal(const SweepAxes& axes) {
  try {
    expand_h200(axes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

std::vector<std::string> described(const SweepAxes& axes) {
  std::vector<std::string> texts;
  for (const Case& c : expand_h200(axes)) texts.push_back(describe(c));
  return texts;
}

TEST(Sweep, OrderIsFixedWithVariantsOfAProblemTogether) {
  SweepAxes axes = small();
  axes.variants = {"naive", "flash2"};
  axes.seqlens = {1024, 512};
  axes.brs = {64};
  axes.bcs = {64};
  axes.fields["mask"] = {"full", "causal"};
  EXPECT_THAT(
      described(axes),
      ElementsAre(
          "naive 64x64 fp16 full b1 h16 N1024 d64 cold", "flash2 64x64 fp16 full b1 h16 N1024 d64 cold",
          "naive 64x64 fp16 full b1 h16 N512 d64 cold", "flash2 64x64 fp16 full b1 h16 N512 d64 cold",
          "naive 64x64 fp16 causal b1 h16 N1024 d64 cold", "flash2 64x64 fp16 causal b1 h16 N1024 d64 cold",
          "naive 64x64 fp16 causal b1 h16 N512 d64 cold", "flash2 64x64 fp16 causal b1 h16 N512 d64 cold"));
}

TEST(Sweep, TokensAndHiddenSetBatchAndHeads) {
  SweepAxes axes = small();
  axes.tokens = 16384;
  axes.hidden = 2048;
  axes.seqlens = {512, 16384};
  axes.fields["head_dim"] = {"64", "128"};
  const auto cases = expand_h200(axes);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[0].problem.batch, 32);
  EXPECT_EQ(cases[0].problem.heads, 32);
  EXPECT_EQ(cases[0].problem.kv_heads, 32);
  EXPECT_EQ(cases[3].problem.batch, 1);
  EXPECT_EQ(cases[3].problem.heads, 16);
}

TEST(Sweep, EveryPairOfLengths) {
  SweepAxes axes = small();
  axes.fields["q_len"] = {"1", "128"};
  axes.fields["kv_len"] = {"1024", "4096"};
  axes.fields["kv_heads"] = {"4"};
  const auto cases = expand_h200(axes);
  ASSERT_EQ(cases.size(), 4u);
  EXPECT_EQ(cases[1].problem.q_len, 1);
  EXPECT_EQ(cases[1].problem.kv_len, 4096);
  EXPECT_EQ(cases[1].problem.group(), 4);
}

TEST(Sweep, ContradictionsAreRefusedWithTheNumbers) {
  SweepAxes axes = small();
  axes.tokens = 1000;
  EXPECT_THAT(refusal(axes), HasSubstr("--tokens 1000 is no multiple of N = 512"));
  axes = small();
  axes.hidden = 100;
  EXPECT_THAT(refusal(axes), HasSubstr("--hidden 100 is no multiple of head_dim = 64"));
  axes = small();
  axes.fields["kv_heads"] = {"3"};
  EXPECT_THAT(refusal(axes), HasSubstr("--kv-heads 3 does not divide heads = 16"));
  axes = small();
  axes.fields["kv_heads"] = {"32"};
  EXPECT_THAT(refusal(axes), HasSubstr("--kv-heads 32"));
  axes = small();
  axes.variants = {"flash9"};
  EXPECT_THAT(refusal(axes), HasSubstr("--variant 'flash9' is none of naive"));
  axes = small();
  axes.fields["dtype"] = {};
  EXPECT_THAT(refusal(axes), HasSubstr("no case"));
}

TEST(Sweep, AbsurdSizesAreRefused) {
  SweepAxes axes = small();
  axes.seqlens = {10'000'000};
  axes.fields["batch"] = {"10000000"};
  EXPECT_THAT(refusal(axes), HasSubstr("absurdly large"));
  axes = small();
  axes.seqlens.clear();
  for (int64_t n = 1; n <= 1000; ++n) axes.seqlens.push_back(n);
  for (int64_t b = 1; b <= 101; ++b) axes.fields["batch"].push_back(std::to_string(b));
  EXPECT_THAT(refusal(axes), HasSubstr("more than 100000 cases"));
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  axes = small();
  axes.brs = axes.bcs = std::vector<int64_t>(10'000, 16);
  axes.fields["q_len"] = axes.fields["kv_len"] = std::vector<std::string>(10'000, "16");
  EXPECT_THAT(refusal(axes), HasSubstr("more than 100000 cases"));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100'000) << "kB, for a product that is never built";
}

Case only(const SweepAxes& axes, int64_t free_bytes = h200().hbm_bytes) {
  const auto cases = expand(axes, h200(), free_bytes);
  EXPECT_EQ(cases.size(), 1u);
  return cases.front();
}

TEST(Skip, TilesThatAreNoMultipleOf16) {
  SweepAxes axes = small();
  axes.brs = {72};
  EXPECT_THAT(*only(axes).skip, HasSubstr("Br = 72 is no multiple of 16"));
  axes.brs.clear();
  axes.bcs = {8};
  EXPECT_THAT(*only(axes).skip, HasSubstr("Bc = 8 is no multiple of 16"));
}

TEST(Skip, SharedMemoryOfABlockWithBothNumbers) {
  Variant greedy = *find_variant("flash2");
  greedy.unsupported = [](const Problem&, const Tile&, const DeviceProfile&) -> std::optional<std::string> {
    return std::nullopt;
  };
  greedy.steps = [](const Problem&, const Tile&, const DeviceProfile&) {
    KernelLaunch kernel;
    kernel.threads = 128;
    kernel.smem_bytes = 232449;
    return std::vector<Step>{{.name = "attention", .launch = kernel, .schedule = {}, .timed = true}};
  };
  Case c = only(small());
  c.variant = &greedy;
  resolve(c, h200(), h200().hbm_bytes);
  ASSERT_TRUE(c.skip);
  EXPECT_EQ(*c.skip, "step attention needs 232449 bytes of shared memory a block, h200 allows 232448");
}

TEST(Skip, DeviceMemoryNeededAndFree) {
  SweepAxes axes = small();
  axes.variants = {"naive"};
  axes.seqlens = {65536};
  const Case c = only(axes);
  ASSERT_TRUE(c.skip);
  // S and P of 16 heads in fp16 alone are 4 N^2 x 16 bytes.
  EXPECT_GT(device_bytes_needed(c, h200()), int64_t{4} * 65536 * 65536 * 16);
  EXPECT_THAT(*c.skip, HasSubstr(std::to_string(device_bytes_needed(c, h200())) + " bytes of device memory"));
  EXPECT_THAT(*c.skip, HasSubstr("141000000000 are free"));
}

TEST(Skip, TheVariantsOwnLimits) {
  SweepAxes axes = small();
  axes.fields["dtype"] = {"fp32"};
  EXPECT_THAT(*only(axes).skip, HasSubstr("flash2 takes fp16 and bf16"));
  axes = small();
  axes.fields["head_dim"] = {"72"};
  EXPECT_TRUE(only(axes).skip);
}

TEST(Skip, GridsThatNoLaunchTakes) {
  const std::pair<const char*, const char*> axes_of[] = {
      {"naive", "y"}, {"flash1", "y"}, {"flash2", "y"}, {"naive", "z"}, {"flash2", "z"}};
  for (const auto& [variant, axis] : axes_of) {
    SweepAxes axes = small();
    axes.variants = {variant};
    axes.seqlens = {1};
    const bool over_heads = axis[0] == 'y' && axes.variants[0] != "flash1";
    axes.fields[over_heads ? "heads" : "batch"] = {"65536"};
    axes.fields[over_heads ? "batch" : "heads"] = {"1"};
    EXPECT_THAT(only(axes).skip.value_or("runs"),
                HasSubstr(std::string("65536 along ") + axis + " of its grid, a launch has at most 65535"))
        << variant;
    axes.fields[over_heads ? "heads" : "batch"] = {"65535"};
    EXPECT_FALSE(only(axes).skip) << variant << " " << *only(axes).skip;
  }
  SweepAxes axes = small();
  axes.variants = {"naive"};
  axes.fields["q_len"] = {"10000000"}, axes.fields["kv_len"] = {"65536"};
  axes.brs = {16}, axes.bcs = {16};
  EXPECT_THAT(*only(axes).skip, HasSubstr("2560000000 along x"));
}

TEST(Skip, TilesAsLargeAsAnOptionTakes) {
  SweepAxes axes = small();
  axes.brs = axes.bcs = {9'999'984};
  for (const char* variant : {"naive", "flash1", "flash2"}) {
    axes.variants = {variant};
    EXPECT_TRUE(only(axes).skip) << variant;
  }
  axes.variants = {"naive"};
  EXPECT_THAT(*only(axes).skip, HasSubstr("1562495000004 threads"));
}

TEST(Sweep, OneSideOfATileIsTheVariantsDefault) {
  SweepAxes axes = small();
  axes.brs = {64};
  const Case c = only(axes);
  EXPECT_EQ(to_string(c.requested), "64xauto");
  EXPECT_EQ(c.tile.br, 64);
  EXPECT_EQ(c.tile.bc, find_variant("flash2")->default_tile(c.problem, h200()).tile.bc);
  EXPECT_FALSE(c.skip);
}

TEST(Sweep, DefaultTilesComeWithAReason) { EXPECT_FALSE(only(small()).tile_reason.empty()); }

TEST(Sweep, EveryVariantRunsTheDefaultPlan) {
  SweepAxes axes;
  axes.variants.clear();
  for (const Variant* variant : all_variants()) axes.variants.emplace_back(variant->name);
  for (const Case& c : expand_h200(axes)) EXPECT_FALSE(c.skip) << describe(c) << ": " << *c.skip;
}

}  // namespace
}  // namespace attnprof
