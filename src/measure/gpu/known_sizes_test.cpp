#include "measure/gpu/known_sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "measure/gpu/gpu_fixture.hpp"

namespace attnprof {
namespace {

SelfTestRow row(int64_t true_read, int64_t read, int64_t true_write, int64_t write) {
  SelfTestRow made{"copy", true_read, true_write, {}};
  made.counted.hbm_read = read;
  made.counted.hbm_write = write;
  return made;
}

TEST(SelfTestRow, HoldsReadsToHalfAPercent) {
  EXPECT_TRUE(row(1000, 1005, 1000, 1000).reads_well());
  EXPECT_FALSE(row(1000, 1006, 1000, 1000).reads_well());
  EXPECT_FALSE(row(1000, 994, 1000, 1000).reads_well());
  EXPECT_TRUE(row(0, 123, 1000, 1000).reads_well());
}

TEST(SelfTestRow, HoldsSettledWritesToAnAbsoluteAndARelativeLimit) {
  EXPECT_TRUE(row(0, 0, 4'000'000, 4'420'000).writes_well());
  EXPECT_FALSE(row(0, 0, 4'000'000, 4'420'001).writes_well());
  EXPECT_FALSE(row(0, 0, 4'000'000, 3'579'999).writes_well());
}

TEST(SelfTestRow, WhatWasNotCountedIsOutside) {
  const SelfTestRow none{"copy", 10, 10, {}};
  EXPECT_FALSE(none.reads_well());
  EXPECT_FALSE(none.writes_well());
  EXPECT_FALSE(none.read_ratio());
}

TEST(SelfTestCsv, HasARowForEachAndEmptyCellsForWhatIsNone) {
  const std::string text = self_test_csv(
      {row(0, 64, 4194304, 4194304), row(100, 102, 100, 100)},
      {{"mma_bf16_tflops", {612.34, 1, 40, 1755.0, {}}}, {"mma_fp16_tflops", {600, 1, 40, {}, {}}}});
  EXPECT_THAT(text, testing::HasSubstr("\ncopy,0,64,,4194304,4194304,1.0000,,,,,,ok,,\n"));
  EXPECT_THAT(text, testing::HasSubstr("\ncopy,100,102,1.0200,100,100,1.0000,,,,,,OUTSIDE,,\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nmma_sync_bf16,,,,,,,,,,,,,612.3,1755\n"));
  EXPECT_THAT(text, testing::HasSubstr("\nmma_sync_fp16,,,,,,,,,,,,,600.0,\n"));
  std::set<std::ptrdiff_t> commas;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) commas.insert(std::ranges::count(line, ','));
  EXPECT_EQ(commas.size(), 1u);  // every row has every column
}

using SelfTestGpu = GpuTest;

TEST_F(SelfTestGpu, CountsKnownSizesWithinTheLimits) {
  std::vector<SelfTestRow> all;
  try {
    all = count_known_sizes(options_);
  } catch (const EnvironmentError& missing) {  // counters that may not be read
    return skip_or_fail(missing.what());
  }
  EXPECT_GE(all.size(), 10u);
  for (const SelfTestRow& counted : all) {
    EXPECT_TRUE(counted.reads_well()) << self_test_csv({counted}, {});
    EXPECT_TRUE(counted.writes_well()) << self_test_csv({counted}, {});
  }
}

}  // namespace
}  // namespace attnprof
