// sweep --resume: completes what was cut off, and refuses what is another run.
#include <fmt/format.h>

#include "cli/sweep_fixture.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;
using testing::Not;

// Runs the plan until row `rows` is written, as if the program was killed there.
void run_killed(const std::string& file, size_t rows, size_t torn_bytes) {
  struct Killed {};
  EXPECT_THROW(run(plan({"-o", file}),
                   [&](FakeBackend& backend) {
                     backend.on_prepare = [&](const Case&) {
                       if (backend.prepared > rows) throw Killed{};
                     };
                   }),
               Killed);
  if (torn_bytes > 0)
    write_text(file, text_of(file) + std::string("naive,fwd,\"fp16,full,1,16").substr(0, torn_bytes));
}

TEST(Resume, CompletesAFileKilledAtAnyRow) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "whole.csv"})).code, 0);
  const std::string whole = without_run(text_of(folder / "whole.csv"));
  for (size_t rows = 0; rows < 4; ++rows)
    for (size_t torn : {0, 1, 10, 24}) {
      const std::string file = folder / fmt::format("{}-{}.csv", rows, torn);
      run_killed(file, rows, torn);
      const std::string run_id = rows ? read_rows(file).rows[0].provenance.run : "";
      const Result result = run(plan({"-o", file, "--resume"}));
      EXPECT_EQ(result.code, 0) << result.err;
      EXPECT_EQ(without_run(text_of(file)), whole) << rows << " rows, " << torn << " bytes more";
      if (rows > 0) {
        EXPECT_EQ(read_rows(file).rows[3].provenance.run, run_id) << "one run";
      }
      const std::string complaint = fmt::format("line {}: the line is torn", rows + 2);
      EXPECT_EQ(result.err.find(complaint) != std::string::npos, torn > 0) << result.err;
      EXPECT_THAT(result.err, HasSubstr(fmt::format("[{}/4] ", rows + 1)));
      EXPECT_THAT(result.err, Not(HasSubstr(fmt::format("[{}/4] ", rows))));
    }
}

TEST(Resume, ATornHeaderIsStartedAgain) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv"})).code, 0);
  const std::string whole = text_of(folder / "o.csv");
  write_text(folder / "o.csv", whole.substr(0, 20));
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--resume"})).code, 0);
  EXPECT_EQ(without_run(text_of(folder / "o.csv")), without_run(whole));
}

TEST(Resume, OfACompleteFileRunsNothing) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv"})).code, 0);
  const std::string whole = text_of(folder / "o.csv");
  const Result result = run(plan({"-o", folder / "o.csv", "--resume"}));
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(text_of(folder / "o.csv"), whole);
  EXPECT_THAT(result.out, HasSubstr("     12.5  ")) << "the table has the rows that were there";
}

TEST(Resume, ExitCodeCountsEarlierRows) {
  const TemporaryFolder folder;
  const Change wrong = [](FakeBackend& backend) { backend.wrong_variant = "naive"; };
  ASSERT_EQ(run(plan({"-o", folder / "o.csv"}), wrong).code, 1);
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--resume"})).code, 1);
}

class ResumeRefuses : public testing::Test {
 protected:
  ResumeRefuses() { run_killed(file_, 2, 7); }
  std::string refusal(const Args& args, const Change& setup = {}) {
    const std::string csv = text_of(file_), meta = text_of(file_ + ".meta.json");
    const Result result = run(args, setup);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_EQ(text_of(file_), csv) << "untouched";
    EXPECT_EQ(text_of(file_ + ".meta.json"), meta) << "untouched";
    return result.err;
  }
  TemporaryFolder folder_;
  std::string file_ = folder_ / "o.csv";
};

TEST_F(ResumeRefuses, AnotherPlan) {
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume", "--mask", "causal"})),
              HasSubstr("its plan is another, made by `attnprof sweep"));
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume", "--seed", "2"})), HasSubstr("its plan is another"));
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume", "-b", "1,2"})), HasSubstr("its plan is another"));
}

TEST_F(ResumeRefuses, AnotherEnvironment) {
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume"}),
                      [](FakeBackend& backend) { backend.info_.environment[0].second = "1.3"; }),
              HasSubstr("driver was 1.2, is 1.3"));
}

TEST_F(ResumeRefuses, AnotherKernel) {
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume"}), [](FakeBackend& backend) { backend.kernel = "k2"; }),
              HasSubstr("has changed (hash k1-"));
}

TEST_F(ResumeRefuses, WithoutMeta) {
  std::filesystem::remove(file_ + ".meta.json");
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume"})), HasSubstr("o.csv.meta.json is missing"));
}

TEST_F(ResumeRefuses, ColumnsOfAnotherVersion) {
  std::string text = text_of(file_);
  write_text(file_, text.replace(text.find("hbm_bytes"), 9, "hbm_bites"));
  EXPECT_THAT(refusal(plan({"-o", file_, "--resume"})), HasSubstr("other columns"));
}

TEST_F(ResumeRefuses, ButNotFactsThatDoNotMatter) {
  EXPECT_EQ(run(plan({"-o", file_, "--resume"}),
                [](FakeBackend& backend) { backend.info_.environment[1].second = "elsewhere"; })
                .code,
            0);
}

TEST(SweepCommand, AnotherInputIsAnotherPlanToResume) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "r.csv"})).code, 0);
  EXPECT_EQ(run(plan({"-o", folder / "r.csv", "--resume"})).code, 0);
  EXPECT_NE(run(plan({"-o", folder / "r.csv", "--resume", "--input", "outliers"})).code, 0);
}

}  // namespace
}  // namespace attnprof
