#include "plan/knob_axes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "plan/identity.hpp"
#include "plan/sweep.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

SweepAxes small(const std::vector<std::string>& knobs) {
  SweepAxes axes;
  axes.variants = {"naive", "flash2"};
  axes.seqlens = {512};
  axes.fields["head_dim"] = {"64"};
  axes.knobs = parse_knobs(knobs);
  return axes;
}

std::vector<std::string> knobs_of(const std::vector<Case>& cases) {
  std::vector<std::string> texts;
  for (const Case& c : cases) texts.push_back(std::string(c.variant->name) + " " + identity_of(c).knobs);
  return texts;
}

std::string knob_refusal(const std::vector<std::string>& knobs) {
  try {
    check_axes(small(knobs));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(KnobAxes, MultiplyTheCasesOfVariantsThatHaveThemAlone) {
  const auto cases = expand(small({"warp_rows=16,32", "stages=1", "stages=2"}), h200(), h200().hbm_bytes);
  EXPECT_THAT(knobs_of(cases),
              ElementsAre("naive -", "flash2 stages=1;warp_rows=16", "flash2 stages=1;warp_rows=32",
                          "flash2 stages=2;warp_rows=16", "flash2 stages=2;warp_rows=32"));
}

TEST(KnobAxes, ValuesHaveTheGrammarOfAnAxisAndMayBeZero) {
  const auto axes = parse_knobs({"stages=1:3:1", "q_in_registers=0,1", "stages=3,4"});
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_THAT(axes[0].values, ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(axes[1].values, ElementsAre(0, 1));
  for (const char* text : {"stages", "=2", ""})
    EXPECT_THAT([&] { parse_knobs({text}); },
                testing::ThrowsMessage<UsageError>(HasSubstr("such as stages=1,2")))
        << text;
  EXPECT_THAT([] { parse_knobs({"stages=two"}); },
              testing::ThrowsMessage<UsageError>(AllOf(HasSubstr("--knob stages"), HasSubstr("'two'"))));
}

TEST(KnobAxes, WhatNoVariantHasOrTakesIsRefused) {
  EXPECT_EQ(knob_refusal({"turbo=1"}),
            "--knob turbo: no variant of this plan has it; they have naive: none; flash2: stages, warp_rows, "
            "q_in_registers, min_blocks");
  EXPECT_EQ(knob_refusal({"stages=1,9"}), "--knob stages: 9 is out of range; flash2 takes 1 to 4");
  EXPECT_EQ(knob_refusal({"warp_rows=24"}), "--knob warp_rows: 24 is out of range; flash2 takes 16 or 32");
  EXPECT_EQ(knob_refusal({"q_in_registers=0:1:1"}), "accepted");
}

TEST(KnobAxes, CountTowardsTheLimitOfASweep) {
  SweepAxes axes = small({"stages=1:4:1", "warp_rows=16,32", "q_in_registers=0,1", "min_blocks=1:8:1"});
  for (int64_t n = 1; n <= 774; ++n) axes.seqlens.push_back(n);
  EXPECT_NO_THROW(check_axes(axes));  // 775 x (1 + 128)
  axes.seqlens.push_back(775);
  EXPECT_THROW(check_axes(axes), UsageError);
}

TEST(KnobAxes, AVariantThatDoesNotTakeAValueSkipsIt) {
  Case c = expand(small({"stages=2"}), h200(), h200().hbm_bytes).back();
  c.requested.knobs.set("stages", 7);
  resolve(c, h200(), h200().hbm_bytes);
  EXPECT_EQ(c.skip, "stages = 7 is out of range: flash2 takes 1 to 4");
}

TEST(KnobAxes, DescribedBehindTheTileAndRecordedAsTheyAreInForce) {
  SweepAxes axes = small({"stages=3"});
  axes.variants = {"flash2"};
  axes.brs = axes.bcs = {64};
  const Case c = expand(axes, h200(), h200().hbm_bytes).front();
  EXPECT_EQ(describe(c), "flash2 64x64 stages=3 fp16 full b1 h16 N512 d64 cold");
  EXPECT_THAT(resolved_of(c).knobs_used, AllOf(HasSubstr("stages=3;"), HasSubstr("warp_rows=16;")));
}

TEST(KnobAxes, ADefaultTilesKnobsStayWithIt) {
  Variant tuned = *find_variant("flash2");
  tuned.default_tile = [](const Problem&, const DeviceProfile&) {
    return TileChoice{{128, 64, {{"stages", 3}}}, "measured"};
  };
  const auto stages = [&](const TileRequest& request) {
    Case c;
    c.variant = &tuned;
    c.problem.q_len = c.problem.kv_len = 512;
    c.requested = request;
    resolve(c, h200(), h200().hbm_bytes);
    return c.tile.knobs.get("stages");
  };
  EXPECT_EQ(stages({}), 3);
  EXPECT_EQ(stages({128, {}, {}}), 3);
  EXPECT_EQ(stages({64, {}, {}}), 2);
  EXPECT_EQ(stages({{}, {}, {{"stages", 1}}}), 1);
}

}  // namespace
}  // namespace attnprof
