// Plans of any size leave the machine alive: memory stays below 2 GB and every case ends in seconds,
// simulated or skipped with a sentence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "base/csv.hpp"
#include "testing/program.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

constexpr double most_bytes = 2e9;
// Of processor time; a release takes a tenth.
#if defined(__SANITIZE_ADDRESS__)
constexpr double most_seconds = 300;
#else
constexpr double most_seconds = 60;
#endif

// AddressSanitizer reserves terabytes of addresses; what is in use is held against the limit all the same.
void limit_memory() {
#if !defined(__SANITIZE_ADDRESS__)
  const rlimit limit{2'000'000'000, 2'000'000'000};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

std::string run_bounded(const Args& args, int code) {
  const TemporaryFolder folder;
  Program program(args, folder / "output.txt", {}, limit_memory);
  EXPECT_EQ(program.wait(), code) << program.output().substr(0, 2000);
  EXPECT_LT(program.peak_bytes(), most_bytes) << testing::PrintToString(args);
  EXPECT_LT(program.cpu_seconds(), most_seconds) << testing::PrintToString(args);
  return program.output();
}

Args sim(const Args& more, const char* command = "sweep") {
  Args args = {command, "--backend", "sim", "--format", "csv"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

TEST(Bounds, OneLongBlockAHead) {
  const Args plan = {"-N", "64k", "-b", "64", "-d", "64", "--verify", "off", "--variant", "flash1"};
  EXPECT_THAT(run_bounded(sim(plan), 0), HasSubstr(",ok,"));
  Args dry = plan;
  dry.emplace_back("--dry-run");
  EXPECT_THAT(run_bounded(sim(dry), 0), HasSubstr(",run,"));
}

TEST(Bounds, ALongSequenceIsSkippedWithAnEstimate) {
  const char* estimate = "its simulation is about 1.22e+10 tile accesses, ";
  EXPECT_THAT(
      run_bounded(sim({"--dry-run", "-N", "10000000", "--heads", "1", "-d", "64", "--variant", "flash2"}), 0),
      HasSubstr(estimate));
  EXPECT_THAT(run_bounded(sim({"-N", "10000000", "--heads", "1", "-d", "64", "--variant", "flash2"}), 3),
              HasSubstr(estimate));
}

TEST(Bounds, AGpuPlanRunsWhatTheSimulatorLeavesOut) {
  const std::string output =
      run_bounded({"sweep", "--backend", "gpu", "--target", "h200", "--dry-run", "--format", "csv", "-N",
                   "10000000", "--heads", "1", "-d", "64", "--variant", "flash2"},
                  0);
  EXPECT_THAT(output, HasSubstr(",,,run,")) << "with no bytes of a model";
}

// Sanitized code is five times slower and is looked at for other errors: where lengths are planned tile by
// tile, a tenth takes the same paths. Where ten million are skipped by an estimate, a tenth would take
// longer.
#if defined(__SANITIZE_ADDRESS__)
const std::string ten_million = "1000000", million = "100000";
#else
const std::string ten_million = "10000000", million = "1000000";
#endif

class BoundsAt : public testing::TestWithParam<Args> {};

INSTANTIATE_TEST_SUITE_P(
    Extremes, BoundsAt,
    testing::Values(Args{"-N", "10000000", "--heads", "1", "-d", "64"},
                    Args{"-N", million, "--heads", "1", "-d", "16", "--mask", "causal"},
                    Args{"-N", "1", "-b", million, "--heads", "64", "-d", "16"},
                    Args{"-q", "1", "-k", "10000000", "--heads", "4", "-d", "16"},
                    Args{"-q", ten_million, "-k", "1", "--heads", "4", "-d", "16"},
                    Args{"-q", ten_million, "-k", "10", "--heads", "4", "-d", "16", "--mask", "causal"},
                    Args{"-N", "64k", "-b", "64", "-d", "128"},
                    Args{"-N", "100000", "-b", "2", "--cache", "warm", "--mask", "causal"},
                    Args{"-N", "8k", "--br", "16", "--bc", "16", "-b", "8"}));

TEST_P(BoundsAt, EveryVariantIsPlannedInTime) {
  Args extreme = GetParam();
  extreme.emplace_back("--dry-run");
  EXPECT_THAT(run_bounded(sim(extreme), 0), AnyOf(HasSubstr(",run,"), HasSubstr(",skipped,")));
}

TEST(Bounds, VerifyingIsBoundedToo) {
  EXPECT_THAT(run_bounded(sim({"-q", "1", "-k", "8000000", "--heads", "4", "-d", "16", "--variant", "flash2",
                               "--verify", "full"}),
                          0),
              HasSubstr("unchecked"));
}

TEST(Bounds, PlansOfMillionsAreRefused) {
  EXPECT_THAT(run_bounded(sim({"-N", "1:10000000:1"}), 2), HasSubstr("it has over 10000 values"));
  EXPECT_THAT(run_bounded(sim({"-N", "1:10000:1", "-b", "1:10000:1"}), 2),
              HasSubstr("more than 100000 cases"));
  EXPECT_THAT(run_bounded(sim({"-N", "1000000000000"}), 2), HasSubstr("above the limit of 10000000"));
  EXPECT_THAT(run_bounded(sim({"-N", "10000000", "-b", "10000000", "--heads", "10000000"}), 2),
              HasSubstr("absurdly large"));
  EXPECT_THAT(run_bounded({"compile", "--arch", "sm_90a", "--br", "16:160000:16", "--bc", "16:160000:16"}, 2),
              HasSubstr("more than 100000 cases"));
}

TEST(Bounds, TuningIsBoundedByTheSameSentences) {
  EXPECT_THAT(run_bounded({"tune", "--backend", "sim", "-N", "10000000", "--heads", "1", "-d", "64",
                           "--variant", "flash2", "--no-compile"},
                          3),
              HasSubstr("its simulation is about"));
}

TEST(Bounds, ACaseThatTakesTooLongHasFailedAndTheSweepGoesOn) {
  const std::string output = run_bounded(sim({"-N", "32k,64", "-b", "8", "-d", "64", "--variant", "flash2",
                                              "--case-timeout", "10ms", "--verify", "off"}),
                                         1);
  EXPECT_THAT(output, HasSubstr("its simulation took more than --case-timeout 0.01 s of processor time"));
  EXPECT_THAT(output, HasSubstr(",ok,"));
}

}  // namespace
}  // namespace attnprof
