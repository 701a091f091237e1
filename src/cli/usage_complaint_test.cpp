// What is wrong with a command line is said in our words.
#include "cli/usage_complaint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cli/run_fixture.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

std::string said(const Args& args) {
  const Result result = run(args);
  EXPECT_EQ(result.code, 2) << result.out << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
  return result.err;
}

TEST(UsageComplaint, HasNoTextOfTheParser) {
  for (const Args& args : std::vector<Args>{{},
                                            {"sweep", "--seed", "1", "--seed", "2"},
                                            {"sweep", "-N"},
                                            {"sweep", "-o"},
                                            {"sweep", "--config"},
                                            {"sweep", "--latency"},
                                            {"sweep", "--knob"},
                                            {"sweep", "--dry-run=perhaps"},
                                            {"sweep", "--no-dry-run"},
                                            {"sweep", "-"},
                                            {"sweep", "list"},
                                            {"compile"},
                                            {"compile", "--arch"},
                                            {"gate"},
                                            {"gate", "a"},
                                            {"gate", "a", "b", "c"},
                                            {"explain"},
                                            {"roofline"},
                                            {"published"},
                                            {"new-variant"},
                                            {"completion"},
                                            {"completion", "fish"},
                                            {"baseline"},
                                            {"baseline", "updat"},
                                            {"baseline", "update", "a"},
                                            {"baseline", "update", "a", "b", "--markdown", "x"},
                                            {"list", "-d"},
                                            {"doctor", "--format", "text", "--format", "json"},
                                            {"trace", "-o", "x", "--per-kernel", "--per-name", "--", "ls"},
                                            {"trace"}})
    EXPECT_THAT(said(args), Not(AnyOf(HasSubstr("required"), HasSubstr("At Most"), HasSubstr("At Least"),
                                      HasSubstr("Could not"), HasSubstr("expected"), HasSubstr("excludes"),
                                      HasSubstr("subcommand"), HasSubstr("TEXT"))));
}

TEST(UsageComplaint, SaysWhatIsMissingOrTooMuch) {
  EXPECT_EQ(said({"sweep", "--seed", "1", "--seed", "2"}),
            "attnprof: --seed is given 2 times; give it once\n");
  EXPECT_EQ(said({"sweep", "-N"}), "attnprof: -N needs a value: give -N LIST; see attnprof sweep --help\n");
  EXPECT_EQ(said({"compile"}), "attnprof: --arch LIST is missing; see attnprof compile --help\n");
  EXPECT_EQ(said({"gate", "a.csv"}), "attnprof: CURRENT.csv is missing; see attnprof gate --help\n");
  EXPECT_EQ(said({"explain"}), "attnprof: ROWS.csv is missing; see attnprof explain --help\n");
  EXPECT_EQ(said({"sweep", "--dry-run=perhaps"}),
            "attnprof: --dry-run is a switch without a value; leave out '=perhaps'\n");
  EXPECT_EQ(said({"trace", "-o", "x", "--per-kernel", "--per-name", "--", "ls"}),
            "attnprof: --per-kernel and --per-name contradict each other; give one of them\n");
  EXPECT_EQ(
      said({"baseline"}),
      "attnprof: what attnprof baseline shall do is missing: give one of update; see attnprof baseline --help\n");
  EXPECT_THAT(said({}), HasSubstr("a command is missing: give one of sweep, tune"));
}

TEST(UsageComplaint, AnOptionIsNoValueOfAnother) {
  EXPECT_EQ(said({"sweep", "-N", "--dry-run"}),
            "attnprof: -N needs a value, and --dry-run follows: give -N LIST; see attnprof sweep --help\n");
  EXPECT_THAT(said({"sweep", "-o", "--resume"}), HasSubstr("-o needs a value, and --resume follows"));
  EXPECT_THAT(said({"sweep", "-N", "-5"}), HasSubstr("negative")) << "that is a value";
}

TEST(UsageComplaint, SaysWhatWasMeant) {
  EXPECT_THAT(said({"swep"}),
              AllOf(HasSubstr("'swep' is none of sweep"), HasSubstr("; did you mean sweep?")));
  EXPECT_THAT(said({"swep", "--help"}), HasSubstr("did you mean sweep?")) << "its help is nobody's";
  EXPECT_THAT(said({"baseline", "updat"}), HasSubstr("did you mean update?"));
  EXPECT_THAT(said({"sweep", "--ouput", "x"}), HasSubstr("did you mean --output?"));
  EXPECT_THAT(said({"sweep", "--seqlne=512"}), HasSubstr("did you mean --seqlen?"));
  EXPECT_THAT(said({"baseline", "update", "a", "b", "--latencie", "3%"}),
              HasSubstr("did you mean --latency?"));
  EXPECT_THAT(said({"sweep", "--variant", "flahs2"}), HasSubstr("; did you mean flash2?"));
  EXPECT_THAT(said({"sweep", "--variant", "flash9"}), HasSubstr("; did you mean flash1, flash2 or flash3?"));
  EXPECT_THAT(said({"sweep", "--backend", "sim", "--target", "h20", "--dry-run"}),
              HasSubstr("; did you mean h200?"));
  EXPECT_THAT(said({"sweep", "--columns", "hbm_byte"}), HasSubstr("; did you mean hbm_bytes?"));
  EXPECT_THAT(said({"frobnicate"}), HasSubstr("; see attnprof --help"));
}

TEST(UsageComplaint, WhatIsAGatesNeedsAGate) {
  EXPECT_EQ(
      said({"sweep", "--latency", "3%"}),
      "attnprof: --latency is a threshold of a gate, and nothing is gated; give --gate BASELINE.csv too\n");
  for (const Args& args :
       {Args{"--hbm-floor", "1MB"}, {"--markdown", "x"}, {"--gate-retries", "1"}, {"--allow-missing"}}) {
    Args sweep = {"sweep"};
    sweep.insert(sweep.end(), args.begin(), args.end());
    EXPECT_THAT(said(sweep), HasSubstr(args.front() + " is ")) << args.front();
  }
  EXPECT_EQ(said({"gate", "a", "b", "--latency", "fast"}),
            "attnprof: --latency 'fast': give a threshold from 0% to 100%, such as 1%\n");
}

}  // namespace
}  // namespace attnprof
