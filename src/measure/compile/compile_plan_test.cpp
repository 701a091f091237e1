#include "measure/compile/compile_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>
#include <tuple>

#include "device/device_profiles.hpp"
#include "measure/compile/compile_fixture.hpp"
#include "plan/sweep.hpp"
#include "schedule/kernel_fields.hpp"
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
  EXPECT_EQ(reports[4].settings.br, 64);
  EXPECT_EQ(reports[0].variant, "twice");
  EXPECT_EQ(reports[0].threads, 64);
  EXPECT_EQ(reports[0].registers, 26);
  EXPECT_EQ(reports[0].spill_bytes, 16);
  EXPECT_EQ(reports[0].smem_bytes, 512 + 128);
  EXPECT_EQ(reports[0].error, "");
}

// A plan of other sizes has the same kernels, by the same settings.
TEST_F(CompilePlanTest, AKernelIsNamedByWhatItIsCompiledFor) {
  KernelCompiler compiler(options());
  std::vector<Case> all = cases();
  all[0].requested.br = 32;  // all[1], of the same kernels, has its tile by default
  const auto reports = compile_plan(all, {"sm_80"}, compiler);
  ASSERT_EQ(reports.size(), 4u);
  const KernelReport &one = reports[0], &two = reports[1];
  std::vector<std::string> fields;
  for (const ProblemField* field : kernel_fields()) fields.emplace_back(field->name);
  EXPECT_THAT(fields, testing::ElementsAre("dtype", "mask", "head_dim", "page_size"));
  EXPECT_THAT(one.settings.fields, testing::ElementsAre("fp16", "full", "64", "0"));
  EXPECT_EQ(one.settings.br, 32);
  EXPECT_EQ(one.settings.bc, 64);
  EXPECT_EQ(one.settings.macros, "-");
  EXPECT_EQ(two.settings.macros, "SECOND=1");
  EXPECT_EQ(one.identity.tile, "auto");
  EXPECT_EQ(compile_plan({all[1]}, {"sm_80"}, compiler)[0].settings.fields, one.settings.fields);
}

// What a launch needs may hang on the sizes of its case.
TEST_F(CompilePlanTest, ThreadsAndSharedMemoryAreTheMostThatACaseAsksFor) {
  KernelCompiler compiler(options());
  std::vector<Case> all = cases();
  std::get<KernelLaunch>(all[1].steps[0].launch).smem_bytes = 4096;
  EXPECT_EQ(compile_plan(all, {"sm_80"}, compiler)[0].smem_bytes, 4096 + 128);
}

std::vector<Case> cases_of_all_variants(const DeviceProfile& device) {
  std::vector<Case> all;
  for (const Variant* variant : all_variants())
    for (const Pass pass : variant->passes)
      for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp8})
        for (const int64_t length : {128, 4096})
          for (const int64_t page_size : {0, 16})
            for (const Mask mask : {Mask::full, Mask::causal}) {
              Case c;
              c.variant = variant;
              c.problem = {.pass = pass, .dtype = dtype, .mask = mask, .q_len = length, .kv_len = length};
              c.problem.page_size = page_size;
              resolve(c, device, device.hbm_bytes);
              all.push_back(std::move(c));
            }
  return all;
}

// The gate refuses two rows of one identity. What does not compile, as here for want of sources, is a row
// too.
TEST_F(CompilePlanTest, KernelsOfAllVariantsHaveIdentitiesOfTheirOwn) {
  KernelCompiler compiler(options());
  std::set<std::tuple<std::string, std::string, std::vector<std::string>, Count, Count, std::string>>
      identities;
  const auto reports = compile_plan(cases_of_all_variants(*find_profile("h200")), {"sm_90a"}, compiler);
  EXPECT_GT(reports.size(), 50u);
  for (const KernelReport& report : reports) {
    const KernelSettings& settings = report.settings;
    EXPECT_TRUE(
        identities
            .emplace(report.variant, report.step, settings.fields, settings.br, settings.bc, settings.macros)
            .second)
        << report.variant << " " << report.step << " " << settings.macros;
  }
}

TEST(KernelSettings, EveryFieldOfEveryKernelHasItsMacro) {
  std::set<std::string> given;
  Problem problem;
  problem.page_size = 16;
  for (const auto& [name, value] : kernel_macros(problem, 64, 64)) given.insert(name);
  for (const ProblemField& field : problem_fields()) {
    EXPECT_EQ(macro_of(field).empty(), !field.in_kernel && field.macro.empty()) << field.name;
    if (macro_of(field).empty()) continue;
    EXPECT_TRUE(given.contains(std::string(macro_of(field)))) << field.name;
  }
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
