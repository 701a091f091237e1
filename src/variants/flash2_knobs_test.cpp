// flash2's knobs: macros of its kernel, what does not fit, and that what is in force describes itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "plan/skip.hpp"
#include "plan/sweep.hpp"
#include "testing/h200.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

Case case_with(const Knobs& knobs, int br = 128, int bc = 64, int64_t head_dim = 128) {
  Case c;
  c.variant = find_variant("flash2");
  c.problem.q_len = c.problem.kv_len = 1024;
  c.problem.head_dim = head_dim;
  c.requested = {br, bc, knobs};
  resolve(c, h200(), h200().hbm_bytes);
  return c;
}

KernelLaunch kernel_of(const Case& c) {
  return std::get<KernelLaunch>(c.variant->steps(c.problem, c.tile, h200()).front().launch);
}

std::string macro(const KernelLaunch& kernel, std::string_view name) {
  for (const auto& [key, value] : kernel.macros)
    if (key == name) return value;
  return "absent";
}

TEST(Flash2Knobs, ArriveAtTheKernel) {
  const Case c = case_with({{"stages", 3}, {"warp_rows", 32}, {"q_in_registers", 1}, {"min_blocks", 1}});
  ASSERT_EQ(c.skip, std::nullopt);
  const KernelLaunch kernel = kernel_of(c);
  EXPECT_EQ(macro(kernel, "STAGES"), "3");
  EXPECT_EQ(macro(kernel, "WARP_ROWS"), "32");
  EXPECT_EQ(macro(kernel, "Q_IN_REGISTERS"), "1");
  EXPECT_EQ(macro(kernel, "MIN_BLOCKS"), "1");
  EXPECT_EQ(kernel.threads, 128);
  EXPECT_EQ(kernel.smem_bytes, (128 + 2 * 3 * 64) * 128 * 2);
}

TEST(Flash2Knobs, OneKnobLeavesTheOthersToTheVariant) {
  const Case c = case_with({{"min_blocks", 1}}, 64, 64, 64);
  EXPECT_EQ(c.tile.knobs.get("min_blocks"), 1);
  EXPECT_EQ(c.tile.knobs.get("stages"), 2);
  EXPECT_EQ(c.tile.knobs.get("warp_rows"), 16);
  EXPECT_GT(case_with({}, 64, 64, 64).tile.knobs.get("min_blocks"), 1);
}

TEST(Flash2Knobs, InForceTheyMakeTheSameKernel) {
  for (int br : {64, 128, 192})
    for (int bc : {32, 64, 128})
      for (int64_t head_dim : {64, 128, 256})
        for (const Knobs& knobs : {Knobs{}, Knobs{{"stages", 2}}, Knobs{{"min_blocks", 2}}}) {
          Case c = case_with(knobs, br, bc, head_dim);
          if (c.skip) continue;
          Case asked = c;
          asked.tile.knobs = knobs;
          EXPECT_EQ(kernel_of(c).macros, kernel_of(asked).macros) << describe(c);
          EXPECT_EQ(c.variant->knobs_used(c.problem, c.tile, h200()), c.tile.knobs) << describe(c);
          for (const Knob& knob : c.variant->knobs) {
            ASSERT_TRUE(c.tile.knobs.get(knob.name)) << knob.name;
            EXPECT_TRUE(knob.takes(*c.tile.knobs.get(knob.name))) << knob.name;
          }
        }
}

TEST(Flash2Knobs, WhatDoesNotFitIsSkippedWithTheNumbers) {
  EXPECT_THAT(case_with({{"warp_rows", 32}}, 48).skip.value_or("runs"),
              HasSubstr("multiples of warp_rows = 32, not 48"));
  EXPECT_THAT(case_with({{"stages", 4}}, 128, 128).skip.value_or("runs"),
              HasSubstr("294912 bytes of shared memory a block, h200 allows 232448"));
  EXPECT_EQ(case_with({{"min_blocks", 3}, {"warp_rows", 16}}).skip,
            "min_blocks = 3 of 256 threads leaves 80 registers a thread, S and O alone take 96");
  EXPECT_EQ(case_with({{"min_blocks", 4}, {"stages", 2}, {"warp_rows", 16}}, 64).skip,
            "min_blocks = 4 needs 331776 bytes of shared memory an SM, h200 has 233472");
  EXPECT_EQ(case_with({{"min_blocks", 8}, {"warp_rows", 16}}, 256, 16, 16).skip,
            "min_blocks = 8 of 512 threads need 4096 on an SM, h200 has 2048");
}

}  // namespace
}  // namespace attnprof
