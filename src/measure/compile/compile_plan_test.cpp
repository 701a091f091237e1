#include "measure/compile/compile_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "measure/compile/compile_fixture.hpp"
#include "schedule/tiling.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

// Two launches of kernel k, the second with a macro of its own, and a step that is no kernel.
std::vector<Step> two_kernels(const Problem& p, const Tile& tile, const DeviceProfile&) {
  KernelLaunch first;
  first.file = "k.cu", first.entry = "k";
  first.macros = kernel_macros(p, tile.br, tile.bc);
  first.threads = 64, first.smem_bytes = 512;
  KernelLaunch second = first;
  second.macros.emplace_back("SECOND", "1");
  return {
      {"one", first, {}, true}, {"clear", MemsetLaunch{operand_o, 0}, {}, true}, {"two", second, {}, true}};
}

Variant two_kernel_variant() {
  Variant variant = *all_variants().front();
  variant.name = "twice";
  variant.steps = two_kernels;
  return variant;
}

class CompilePlanTest : public CompileTest {
 protected:
  std::vector<Case> cases() const {
    std::vector<Case> all(3);
    for (Case& c : all) {
      c.variant = &variant_;
      c.tile = {32, 64};
      c.problem.q_len = c.problem.kv_len = 128;
    }
    all[1].problem.q_len = 256;  // the same kernels
    all[2].tile = {64, 64};
    for (Case& c : all) set_launches(c, device_);
    return all;
  }
  const Variant variant_ = two_kernel_variant();
  const DeviceProfile device_ = [] {
    DeviceProfile device;
    device.arch = "sm_90a";
    return device;
  }();
};

TEST_F(CompilePlanTest, EveryDifferentKernelIsOneRowAnArch) {
  KernelCompiler compiler(options());
  std::vector<size_t> progress;
  const auto reports =
      compile_plan(cases(), {"sm_80", "sm_90a"}, compiler, 2, [&](size_t done, size_t total) {
        progress.push_back(done);
        EXPECT_EQ(total, 8u);
      });
  ASSERT_EQ(reports.size(), 8u);
  EXPECT_EQ(kernels_of(cases()).size(), 4u);
  EXPECT_EQ(runs(), 8u);
  EXPECT_THAT(progress, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_EQ(reports[0].step, "one");
  EXPECT_EQ(reports[1].arch, "sm_90a");
  EXPECT_EQ(reports[2].step, "two");
  EXPECT_EQ(reports[4].br, 64);
  EXPECT_EQ(reports[0].variant, "twice");
  EXPECT_EQ(reports[0].threads, 64);
  EXPECT_EQ(reports[0].registers, 26);
  EXPECT_EQ(reports[0].spill_bytes, 16);
  EXPECT_EQ(reports[0].smem_bytes, 512 + 128);
  EXPECT_EQ(reports[0].error, "");
}

TEST_F(CompilePlanTest, ASkippedCaseCompilesNothing) {
  std::vector<Case> all = cases();
  for (Case& c : all) c.skip = "does not fit";
  KernelCompiler compiler(options());
  EXPECT_TRUE(compile_plan(all, {"sm_80"}, compiler).empty());
  EXPECT_EQ(runs(), 0u);
}

TEST_F(CompilePlanTest, WhatDoesNotCompileIsARowWithTheReason) {
  write(kernels() / "k.cu", "FAIL");
  KernelCompiler compiler(options());
  for (const KernelReport& report : compile_plan(cases(), {"sm_80"}, compiler))
    EXPECT_THAT(report.error, testing::HasSubstr("does not compile for sm_80"));
}

TEST_F(CompilePlanTest, AheadOfTimeFillsTheCacheForTheCaseInHand) {
  KernelCompiler compiler(options());
  {
    const CompileAhead ahead(cases(), device_, compiler);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    const bool has_a_core_to_spare = std::thread::hardware_concurrency() > 1;
    while (has_a_core_to_spare && runs() < 4 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    compile_plan(cases(), {"sm_90a"}, compiler);
  }
  EXPECT_EQ(runs(), 4u);
}

TEST_F(CompilePlanTest, DestroyingItDoesNotWaitForTheRest) {
  write(nvcc(), "#!/bin/sh\n[ \"$1\" = --version ] && echo 'release 13.0, V13.0.88' && exit 0\nsleep 60\n");
  KernelCompiler compiler(options());
  const auto start = std::chrono::steady_clock::now();
  {
    const CompileAhead ahead(cases(), device_, compiler);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(CompiledSentence, CountsNoKernelThatDidNotCompile) {
  KernelReport good, bad;
  bad.error = "no";
  EXPECT_EQ(compiled_sentence({good, good}, "sm_80"), "2 kernels compiled for sm_80");
  EXPECT_EQ(compiled_sentence({good, bad, bad}, "sm_80"), "1 kernel compiled for sm_80, 2 did not compile");
  EXPECT_EQ(compiled_sentence({bad}, "sm_80"), "0 kernels compiled for sm_80, 1 did not compile");
}

}  // namespace
}  // namespace attnprof
