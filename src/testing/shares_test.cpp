// Of a process that has a share of the tests: that it has one, and that what it starts has all it is asked
// for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/run_program.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

// Runs the tests of this program that `filter` chooses, in a process with one of `shares`.
int run_share(const std::string& filter, int share, int shares, const std::string& output) {
  return run_program({"/usr/bin/env", "GTEST_TOTAL_SHARDS=" + std::to_string(shares),
                      "GTEST_SHARD_INDEX=" + std::to_string(share),
                      std::filesystem::read_symlink("/proc/self/exe").string(), "--gtest_filter=" + filter},
                     output);
}

TEST(Shares, AreNotInheritedByWhatTestsStart) {
  for (const char* name : {"GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_SHARD_STATUS_FILE"})
    EXPECT_EQ(std::getenv(name), nullptr) << name;
}

TEST(Shares, OneWithoutATestFails) {
  const TemporaryFolder folder;
  const std::string output = folder / "output", one = "Shares.AreNotInheritedByWhatTestsStart";
  EXPECT_EQ(run_share(one, 0, 2, output), 0) << text_of(output);
  EXPECT_EQ(run_share(one, 1, 2, output), 1);
  EXPECT_THAT(text_of(output), testing::HasSubstr("no test was run"));
  EXPECT_EQ(run_share("NoSuite.*", 0, 1, output), 1);
}

}  // namespace
}  // namespace attnprof
