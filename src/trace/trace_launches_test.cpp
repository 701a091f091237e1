// The library in a program that launches, on the fake driver and the fake CUPTI: what is counted, and its
// rows.
#include <algorithm>

#include "files/read_meta.hpp"
#include "row/schema.hpp"
#include "trace/trace_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class TraceLaunches : public TraceProgram {
 protected:
  Words variants() const {
    Words names;
    for (const Row& row : rows()) names.push_back(row.identity.variant);
    return names;
  }
};

Words times(size_t count, const std::string& act) { return Words(count, act); }

TEST_F(TraceLaunches, ALaunchIsARow) {
  ASSERT_EQ(trace_target({}, {"launch:_Z9flash_fwdPf:264"}), 0) << said();
  ASSERT_EQ(rows().size(), 1u);
  const Row row = rows().front();
  EXPECT_EQ(row.identity.variant, "flash_fwd");
  EXPECT_EQ(row.identity.knobs, "grid=264x1x1;block=128x1x1;smem=2048;launch=0");
  EXPECT_EQ(row.identity.cache, "as_found");
  EXPECT_EQ(row.status.disposition, "ok");
  EXPECT_EQ(row.provenance.device, "NVIDIA H200");
  EXPECT_EQ(row.counters.bytes_source, "cupti_launch");
  EXPECT_EQ(row.counters.hbm_read, 2'640'000);
  EXPECT_EQ(row.counters.hbm_write_in_kernel, 1'320'000);
  EXPECT_FALSE(row.counters.hbm_write) << "settling would evict the program's L2";
  EXPECT_EQ(row.counters.hbm_total, 3'960'000);
  EXPECT_EQ(row.build.ctas, 264);
  EXPECT_EQ(row.build.threads_per_cta, 128);
  EXPECT_EQ(row.build.registers, 168);
  EXPECT_EQ(row.build.spill_bytes, 16) << "local memory a thread";
  EXPECT_EQ(row.build.smem_bytes, 1024 + 2048);
  EXPECT_NEAR(*row.build.waves, 264 / 396.0, 1e-5)
      << "by registers, 3 blocks of 128 x 168 are resident on an SM";
}

TEST_F(TraceLaunches, ItsTimeIsThatOfTheBusiestSm) {
  ASSERT_EQ(trace_target({}, {"launch:k_bf16:10"}), 0);
  const Latency latency = rows().front().latency;
  EXPECT_EQ(latency.latency_source, "counters");
  EXPECT_DOUBLE_EQ(*latency.sm_clock_mhz, 2000);
  EXPECT_DOUBLE_EQ(*latency.median_ns, 10'000) << "20000 cycles at 2 GHz; the range took 40000 ns";
}

// A pass holds few counters: the launches of a kernel take turns, and rows share what does not vary.
TEST_F(TraceLaunches, LaunchesTakeTurnsAtWhatDoesNotFitAPass) {
  ASSERT_EQ(trace_target({}, times(4, "launch:k_bf16:264")), 0) << said();
  for (const Row& row : rows()) {
    EXPECT_EQ(row.identity.word("dtype"), "bf16");
    EXPECT_EQ(row.counters.executed_tensor_flops, 1'056'000'000);
    EXPECT_EQ(row.counters.sm_total, 2 * 26'400);
    EXPECT_EQ(row.counters.local, 26'400 + 64 * 264);
    EXPECT_TRUE(has_flag(row.status, Flag::other_launches));
  }
}

TEST_F(TraceLaunches, RatesAndIntensitiesTakeExecutedFlops) {
  ASSERT_EQ(trace_target({"--per-name"}, times(4, "launch:k_bf16:264")), 0);
  const Row row = rows().front();
  EXPECT_FALSE(row.model.useful_flops);
  EXPECT_NEAR(*row.roofline.hbm_intensity, 1056e6 / 3.96e6, 1e-3);
  EXPECT_NEAR(*row.roofline.useful_tflops_per_s, 1056e6 / 264e3 / 1e3, 1e-3);
  EXPECT_FALSE(row.roofline.bound.empty());
}

// fp16 FLOPs take two passes on this chip, so two launches; other kernels are left alone between them.
TEST_F(TraceLaunches, ACounterOfTwoPassesTakesTwoLaunches) {
  Words acts;
  for (int i = 0; i < 12; ++i) acts.insert(acts.end(), {"launch:k_fp16:10", "launch:other:3"});
  ASSERT_EQ(trace_target({"--per-name"}, acts), 0) << said();
  EXPECT_THAT(variants(), ElementsAre("k_fp16", "other"));
  EXPECT_EQ(rows()[0].identity.word("dtype"), "fp16");
  EXPECT_EQ(rows()[0].counters.executed_tensor_flops, 40'000'000);
  EXPECT_EQ(rows()[0].counters.hbm_total, 150'000);
  EXPECT_EQ(rows()[1].counters.hbm_total, 45'000);
}

TEST_F(TraceLaunches, AKernelWithoutTensorWorkHasZeroFlopsAndABound) {
  ASSERT_EQ(trace_target({"--per-name"}, times(6, "launch:add:264")), 0);
  const Row row = rows().front();
  EXPECT_EQ(row.identity.word("dtype"), "-");
  EXPECT_EQ(row.counters.executed_tensor_flops, 0);
  EXPECT_FALSE(row.roofline.bound.empty());
}

TEST_F(TraceLaunches, PerNameIsTheMedianOfAKernelAndConfiguration) {
  Words acts = times(7, "launch:k_bf16:264");
  acts.push_back("launch:k_bf16:132");
  ASSERT_EQ(trace_target({"--per-name"}, acts), 0);
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_EQ(rows()[0].identity.knobs, "grid=264x1x1;block=128x1x1;smem=2048");
  EXPECT_EQ(rows()[0].latency.samples, 7);
  EXPECT_EQ(rows()[0].counters.hbm_counts, 7);
  EXPECT_TRUE(rows()[0].latency.ci95_low_ns);
  EXPECT_EQ(rows()[1].latency.samples, 1);
  EXPECT_TRUE(has_flag(rows()[1].status, Flag::few_samples));
}

TEST_F(TraceLaunches, OnlyWhatMatchesIsCountedAndNothingElse) {
  ASSERT_EQ(trace_target({"--kernel", "flash|fmha"},
                         {"launch:add:1", "launch:flash_fwd:2", "launch:my_fmha_kernel:3", "launch:add:1"}),
            0);
  EXPECT_THAT(variants(), ElementsAre("flash_fwd", "my_fmha_kernel"));
  EXPECT_THAT(said(), HasSubstr("2 counts of launches, 2 rows in"));
  ASSERT_EQ(trace_target({"--overwrite", "--kernel", "fmha"}, {"launch:fmha:1"}), 0);
  EXPECT_THAT(said(), HasSubstr("1 count of launches, 1 row in"));
}

TEST_F(TraceLaunches, NothingMatchedNamesWhatWasLaunched) {
  EXPECT_EQ(trace_target({"--kernel", "flash"}, {"launch:_Z3addPf:1", "launch:mul:1", "launch:mul:2"}), 3);
  EXPECT_THAT(
      said(),
      HasSubstr("no launch matched --kernel 'flash'; launched were, most often first: mul (2), add (1)"));
  EXPECT_FALSE(has_file());
  EXPECT_EQ(trace_target({"--kernel", "flash"}, {"launch:mul:1", "exit:5"}), 5) << "the program's own";
  EXPECT_EQ(trace_target({"--kernel", "flash"}, {"many:mul:100000"}), 3);
  EXPECT_THAT(said(), HasSubstr("mul (100000)"));
  EXPECT_EQ(trace_target({}, {}), 3);
  EXPECT_THAT(said(), HasSubstr("initialised CUDA and launched no kernel"));
}

TEST_F(TraceLaunches, NoMoreThanTheLimitIsCounted) {
  ASSERT_EQ(trace_target({"--limit", "2"}, times(5, "launch:k:1")), 0);
  EXPECT_EQ(rows().size(), 2u);
}

// The fake CUPTI refuses calls out of order, and two launches in one range count twice.
TEST_F(TraceLaunches, ThreadsAreCountedOneAfterTheOther) {
  ASSERT_EQ(trace_target({"--limit", "0"}, {"threads:k_bf16:25"}), 0) << said();
  EXPECT_EQ(rows().size(), 100u);
  for (const Row& row : rows()) EXPECT_EQ(row.counters.hbm_total, 15'000);
}

// A new context may have the address of one that is no more; the fake CUPTI aborts at a call for such.
TEST_F(TraceLaunches, ADestroyedContextsSessionIsDropped) {
  ASSERT_EQ(trace_target({}, {"launch:k_bf16:1", "destroy", "launch:k_bf16:2", "launch:k_bf16:2"}), 0)
      << said();
  EXPECT_EQ(rows().size(), 3u);
  EXPECT_THAT(said(), Not(HasSubstr("destroyed")));
}

TEST_F(TraceLaunches, ContextsAreDestroyedWhileOthersAreCounted) {
  ASSERT_EQ(trace_target({"--limit", "0"}, {"contexts:k_bf16:60"}), 0) << said();
  EXPECT_EQ(rows().size(), 2u * 60 * 3);
  for (const Row& row : rows()) EXPECT_EQ(row.counters.hbm_total, 15'000);
}

TEST_F(TraceLaunches, ExtendedLaunchesAndClusters) {
  ASSERT_EQ(trace_target({}, {"launch-ex:k:8"}), 0);
  EXPECT_EQ(rows().front().identity.knobs, "grid=8x1x1;block=256x1x1;cluster=2x1x1;smem=0;launch=0");
}

TEST_F(TraceLaunches, AGraphIsOneLaunchAndSaysSo) {
  ASSERT_EQ(trace_target({"--kernel", "flash"}, {"graph:add,flash_fwd,add", "graph:add"}), 0);
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].identity.variant, "flash_fwd in a graph of 3");
  EXPECT_EQ(rows()[0].build.launches, 3);
  EXPECT_FALSE(rows()[0].build.ctas);
  EXPECT_TRUE(has_flag(rows()[0].status, Flag::graph));
  EXPECT_DOUBLE_EQ(*rows()[0].latency.median_ns, 31'000)
      << "the range: SMs may idle between a graph's kernels";
}

// Waiting for the device would end a capture with an error.
TEST_F(TraceLaunches, WhatIsCapturedIsNotCounted) {
  ASSERT_EQ(trace_target({}, {"capture", "launch:k:1", "end-capture", "launch:k:2"}), 0);
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].build.ctas, 2);
}

TEST_F(TraceLaunches, CollectivesAreNotCounted) {
  EXPECT_EQ(trace_target({}, {"launch:ncclDevKernel_AllReduce:1"}), 3);
  EXPECT_THAT(said(), HasSubstr("ncclDevKernel_AllReduce (1)"));
}

TEST_F(TraceLaunches, ALaunchThatFailedIsNoRow) {
  ASSERT_EQ(trace_target({}, {"launch:refused:1", "launch:k:2", "launch:k:2"}), 0) << said();
  EXPECT_THAT(said(), HasSubstr("launch failed with 1")) << "the program sees its own error";
  EXPECT_THAT(variants(), ElementsAre("k", "k"));
}

TEST_F(TraceLaunches, ChildProcessesAreTracedToo) {
  ASSERT_EQ(trace_target({}, {"launch:k:1", "child", "init", "launch:k:2", "launch:m:1"}), 0) << said();
  ASSERT_EQ(rows().size(), 3u);
  EXPECT_THAT(rows()[0].identity.knobs, HasSubstr("process=0;launch=0"));
  EXPECT_THAT(rows()[1].identity.knobs, HasSubstr("process=1;launch=0"));
  EXPECT_EQ(trace_target({"--overwrite"}, {"launch:k:1", "child", "init", "launch:k:2", "exit:6"}), 6);
  EXPECT_EQ(rows().size(), 2u) << "kept, whatever the program's exit code";
}

TEST_F(TraceLaunches, AProcessThatForksIsCountedOnce) {
  EXPECT_EQ(trace_target({"--kernel", "x"}, {"launch:k:1", "fork", "launch:k:1"}), 3);
  EXPECT_THAT(said(), HasSubstr("k (1)"));
}

TEST_F(TraceLaunches, AKilledProcessKeepsItsRows) {
  EXPECT_EQ(trace_target({}, {"launch:k:1", "kill:9"}), 137);
  EXPECT_EQ(rows().size(), 1u);
}

TEST_F(TraceLaunches, RangesChooseByTheInnermost) {
#if !__has_include(<nvtx3/nvToolsExt.h>)
  GTEST_SKIP() << "built without NVTX's headers";
#endif
  const Words acts = {"launch:k:1", "push:step;1", "launch:k:2", "push:attention", "launch:k:3", "pop",
                      "launch:k:4", "pop",         "pop",        "launch:k:5"};
  ASSERT_EQ(trace_target({"--range", "^att"}, acts), 0) << said();
  ASSERT_EQ(rows().size(), 1u);
  EXPECT_EQ(rows()[0].identity.knobs, "grid=3x1x1;block=128x1x1;smem=2048;range=attention;launch=0");
  ASSERT_EQ(trace_target({"--range", "step", "--overwrite"}, acts), 0);
  ASSERT_EQ(rows().size(), 2u);
  EXPECT_THAT(rows()[0].identity.knobs, HasSubstr("range=step,1"));
  EXPECT_EQ(trace_target({"--range", "none", "--overwrite"}, acts), 3);
  EXPECT_THAT(said(), HasSubstr("no launch matched --range 'none'"));
}

TEST_F(TraceLaunches, WhyCountersCannotBeReadIsASentence) {
  EXPECT_EQ(trace_target({}, {"launch:k:1", "print:still running"}, {"FAKE_CUPTI_AVAILABILITY=35"}), 3);
  EXPECT_THAT(said(), AllOf(HasSubstr("still running"), HasSubstr("no permission for hardware counters")));
  EXPECT_FALSE(has_file());
  EXPECT_EQ(trace_target({}, {"launch:k:1", "exit:9"}, {"FAKE_CUPTI_SUBSCRIBE=39"}), 9);
  EXPECT_THAT(said(), HasSubstr("another CUPTI client is active in this process"));
  EXPECT_EQ(trace_target({}, {"launch:k:1"}, {"ATTNPROF_CUPTI=/nowhere/libcupti.so"}), 3);
  EXPECT_THAT(said(), HasSubstr("CUPTI cannot be opened at /nowhere/libcupti.so"));
}

TEST_F(TraceLaunches, RowsPlotAndGate) {
  const std::string baseline = folder_ / "base.csv";
  ASSERT_EQ(trace_target({"--per-name"}, times(8, "launch:k_bf16:264")), 0);
  std::filesystem::rename(csv(), baseline);
  std::filesystem::rename(csv() + ".meta.json", baseline + ".meta.json");
  ASSERT_EQ(trace_target({"--per-name"}, times(8, "launch:k_bf16:264")), 0);
  EXPECT_EQ(run({"gate", baseline, csv()}), 0) << said();
  EXPECT_EQ(run({"roofline", csv()}), 0);
  EXPECT_THAT(said(), AllOf(HasSubstr("point,hbm"), HasSubstr("k_bf16")));
  EXPECT_EQ(run({"explain", csv()}), 0);
  EXPECT_THAT(said(), AllOf(HasSubstr("Registers spill"), Not(HasSubstr("useful FLOPs: masked"))));
  ASSERT_EQ(trace_target({"--overwrite"}, {"launch:k_bf16:264", "launch:k_bf16:264"}), 0);
  EXPECT_EQ(run({"gate", csv(), csv()}), 0) << said();
}

TEST_F(TraceLaunches, AFurtherRunIsAppended) {
  ASSERT_EQ(trace_target({}, {"launch:k:1"}), 0);
  ASSERT_EQ(trace_target({"--append"}, {"launch:m:1"}), 0);
  EXPECT_THAT(variants(), ElementsAre("k", "m"));
  const std::string meta = meta_beside(csv()).value_or("");
  EXPECT_THAT(meta, AllOf(HasSubstr(rows()[0].provenance.run), HasSubstr(rows()[1].provenance.run),
                          HasSubstr("hbm_gbps"), HasSubstr("\"cuda_driver\": \"13.0\"")));
}

TEST_F(TraceLaunches, ALongNameIsShortInTheRowAndWholeInTheMeta) {
  std::string name = "_ZN5flash10fwd_kernelI";
  for (int i = 0; i < 40; ++i) name += "Li64E";
  name += "EEvPf";
  ASSERT_EQ(trace_target({}, {"launch:" + name + ":1"}), 0) << said();
  EXPECT_THAT(rows()[0].identity.variant, testing::MatchesRegex("flash::fwd_kernel<#[0-9a-f]{8}>"));
  EXPECT_THAT(meta_beside(csv()).value_or(""), HasSubstr("void flash::fwd_kernel<64, 64,"));
}

TEST_F(TraceLaunches, NamesWithCommasAreQuoted) {
  ASSERT_EQ(trace_target({}, {"launch:_Z3fooILi1ELi2EEvv:1"}), 0);
  EXPECT_EQ(rows()[0].identity.variant, "foo<1, 2>");
  EXPECT_THAT(text_of(csv()), HasSubstr("\n\"foo<1, 2>\",-,"));
}

}  // namespace
}  // namespace attnprof
