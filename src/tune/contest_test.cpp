#include "tune/contest.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/identity.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsSupersetOf;

SweepAxes small(const std::string& variant) {
  SweepAxes axes;
  axes.variants = {variant};
  axes.seqlens = {512};
  axes.fields["head_dim"] = {"64"};
  return axes;
}

std::vector<Contest> contests(const SweepAxes& axes) { return contests_of(axes, h200(), h200().hbm_bytes); }

std::vector<std::string> asked(const Contest& contest) {
  std::vector<std::string> texts;
  for (const Case& c : contest.candidates) {
    const Identity identity = identity_of(c);
    texts.push_back(identity.tile + (identity.knobs == "-" ? "" : " " + identity.knobs));
  }
  return texts;
}

TEST(Contest, OneForEachProblemAndVariant) {
  SweepAxes axes = small("flash2");
  axes.variants = {"flash1", "flash2"};
  axes.seqlens = {512, 1024};
  axes.brs = {64};
  const auto all = contests(axes);
  ASSERT_EQ(all.size(), 4u);
  for (const Contest& contest : all) {
    EXPECT_EQ(asked(contest).front(), "auto");
    for (const Case& c : contest.candidates) {
      EXPECT_EQ(c.problem, contest.candidates.front().problem);
      EXPECT_EQ(c.variant, contest.candidates.front().variant);
    }
  }
  EXPECT_EQ(all[3].candidates.front().problem.q_len, 1024);
  EXPECT_EQ(all[3].candidates.front().variant->name, "flash2");
}

TEST(Contest, TilesAndKnobsGivenAreTheCandidates) {
  SweepAxes axes = small("flash2");
  axes.brs = {64, 48}, axes.bcs = {32};
  axes.knobs = {{"stages", {1, 2}}};
  EXPECT_THAT(asked(contests(axes).front()),
              ElementsAre("auto", "64x32 stages=1", "64x32 stages=2", "48x32 stages=1", "48x32 stages=2"));
}

TEST(Contest, AKnobGivenReplacesTheCandidatesValues) {
  SweepAxes axes = small("flash2");
  axes.knobs = {{"stages", {3}}};
  const auto all = asked(contests(axes).front());
  ASSERT_GT(all.size(), 10u);
  EXPECT_THAT(std::vector(all.begin() + 1, all.end()), Each(HasSubstr("stages=3;warp_rows=")));
}

TEST(Contest, NoKernelTwice) {
  SweepAxes axes = small("flash2");
  const Tile by_default =
      find_variant("flash2")->default_tile({.q_len = 512, .kv_len = 512, .head_dim = 64}, h200()).tile;
  axes.brs = {by_default.br}, axes.bcs = {by_default.bc};
  EXPECT_THAT(asked(contests(axes).front()), ElementsAre("auto"));
}

TEST(Contest, WithoutCandidatesOfItsOwnMultiplesOf16) {
  const auto all = asked(contests(small("naive")).front());
  EXPECT_THAT(all, IsSupersetOf({"16x16", "64x80", "256x256"}));
  SweepAxes axes = small("naive");
  axes.seqlens = {40};
  const auto few = contests(axes);
  for (const Case& c : few.front().candidates) {
    if (c.requested == TileRequest{}) continue;
    EXPECT_LE(c.tile.br, 48 + 15);
    EXPECT_LE(c.tile.bc, 48 + 15);
  }
}

TEST(Contest, AVariantWithoutTilesHasItsDefaultAlone) {
  EXPECT_THAT(asked(contests(small("standard")).front()), ElementsAre("auto"));
}

TEST(Contest, EveryVariantsCandidatesAreInRangeAndSomeRun) {
  for (const Variant* variant : all_variants()) {
    if (!variant->candidates) continue;
    auto all = contests(small(std::string(variant->name)));
    for (const Case& c : all.front().candidates)
      for (const Knobs::Value& each : c.requested.knobs) {
        const Knob* knob = find_knob(*variant, each.name);
        ASSERT_TRUE(knob) << each.name;
        EXPECT_TRUE(knob->takes(each.value)) << tile_text(c);
      }
    prune_skipped(all);
    EXPECT_GT(all.front().candidates.size(), 1u) << variant->name;
  }
}

TEST(Prune, ReasonsThatDifferInNumbersAloneAreCountedTogether) {
  SweepAxes axes = small("flash2");
  axes.brs = {64, 128, 72}, axes.bcs = {64, 512, 1024};
  auto all = contests(axes);
  const auto pruned = prune_skipped(all);
  ASSERT_EQ(pruned.size(), 2u);
  EXPECT_EQ(pruned[0].count, 4u);
  EXPECT_THAT(pruned[0].example, HasSubstr("64x512: flash2 keeps S and O in registers"));
  EXPECT_EQ(pruned[1].count, 3u);
  EXPECT_THAT(pruned[1].example, HasSubstr("Br = 72 is no multiple of 16"));
  EXPECT_THAT(asked(all.front()), ElementsAre("auto", "64x64", "128x64"));  // 128x128 is the default
}

TEST(Prune, TheDefaultStaysAsWhatTheOthersAreHeldAgainst) {
  auto all = contests(small("flash2"));
  const size_t candidates = all.front().candidates.size();
  const auto pruned = prune(all, [](const Case&) { return std::optional<std::string>("spills 8 bytes"); });
  ASSERT_EQ(pruned.size(), 1u);
  EXPECT_EQ(pruned[0].count, candidates - 1);
  EXPECT_THAT(asked(all.front()), ElementsAre("auto"));
}

}  // namespace
}  // namespace attnprof
