// The whole tool, but for main, with a backend that answers with fixed numbers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <csignal>
#include <locale>

#include "cli/run.hpp"
#include "error.hpp"
#include "measure/fake_backend.hpp"
#include "report/csv.hpp"
#include "report/env_id.hpp"
#include "report/meta.hpp"
#include "testing/run_id.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using Change = std::function<void(FakeBackend&)>;
using Args = std::vector<std::string>;

struct Result {
  int code;
  std::string out, err;
};

Result run(Args args, const Change& setup = {}) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const int code = run_command_line(args, opener(setup));
  return {code, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

// Four cases: two lengths of naive and flash2.
Args plan(Args more = {}) {
  Args args = {"sweep", "--variant", "naive,flash2", "-N", "512,1k", "-d", "64"};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}

std::vector<std::string> dispositions(const std::string& file) {
  std::vector<std::string> all;
  for (const Row& row : read_rows(file).rows) all.push_back(row.status.disposition);
  return all;
}

TEST(SweepCommand, WritesExactlyThis) {
  const TemporaryFolder folder;
  const Result result =
      run({"sweep", "--variant", "flash2", "-N", "512", "-d", "64", "-o", folder / "o.csv"});
  EXPECT_EQ(result.code, 0) << result.err;
  std::string expected = csv_header(all_columns());
  // 16 heads of Q, K, V, O of 64 kB each are 4194304 bytes; every of 4 Q tiles reads all of K and V again.
  expected +=
      "flash2,fwd,fp16,full,1,16,16,512,512,64,auto,-,cold,1,RUN,512d942ad25d69e2,fake,\"Fake GPU, \"\"2 "
      "SMs\"\"\","
      "k1-flash2,128,128,stages=2;warp_rows=32;q_in_registers=0;min_blocks=1,ok,,uncalibrated,yes,0.0001,0."
      "0002,model,12500,,,,,,,,none,,,,,,,,,,,,,,"
      "10485760,0,4194304,4194304,1073741824,1073741824,,1073741824,85.8993,85.8993,,,,,,,1,,,,,,,,,,,"
      "\n";
  EXPECT_EQ(without_run(text_of(folder / "o.csv")), expected);
  EXPECT_THAT(result.err, AllOf(HasSubstr("backend fake\n"),
                                HasSubstr("[1/1] flash2 128x128 fp16 full b1 h16 N512 d64 cold\n"),
                                Not(HasSubstr("nothing was written"))));
  EXPECT_THAT(result.out, AllOf(HasSubstr("flash2"), HasSubstr("12.5 us"), HasSubstr("85.9 TFLOP/s")));
}

struct GermanNumbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(SweepCommand, TheLocaleChangesNoByte) {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& name) {
    const Result result = run(plan({"-o", folder / name, "--format", "json"}));
    return without_run(text_of(folder / name) + result.out);
  };
  const std::string english = sweep("c.csv");
  const std::locale before = std::locale::global(std::locale(std::locale::classic(), new GermanNumbers));
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // for printf's kind, where the system has it
  const std::string german = sweep("de.csv");
  std::locale::global(before);
  std::setlocale(LC_ALL, "C");
  EXPECT_EQ(german, english);
  EXPECT_EQ(text_of(folder / "de.csv.meta.json").find("1.000"), std::string::npos)
      << "no thousands separators";
}

TEST(SweepCommand, KnobsAreAnAxisThatIsResumedAndDescribed) {
  const TemporaryFolder folder;
  const std::string file = folder / "k.csv";
  const Args args = plan({"--knob", "stages=1,2", "-o", file});
  const auto knobs = [&] {
    std::vector<std::string> all;
    for (const Row& row : read_rows(file).rows)
      all.push_back(row.identity.variant + " " + row.identity.knobs);
    return all;
  };
  const std::vector<std::string> expected = {"naive -", "flash2 stages=1", "flash2 stages=2",
                                             "naive -", "flash2 stages=1", "flash2 stages=2"};
  EXPECT_THAT(run(args).err, HasSubstr("[2/6] flash2 128x128 stages=1 fp16"));
  EXPECT_EQ(knobs(), expected);
  const std::string whole = text_of(file);
  write_text(file, whole.substr(0, whole.find("flash2,fwd,fp16,full,1,16,16,1024")));
  Args resumed = args;
  resumed.push_back("--resume");
  EXPECT_EQ(run(resumed).code, 0);
  EXPECT_EQ(knobs(), expected);
  EXPECT_EQ(run(plan({"--knob", "stages=9"})).code, 2);
}

TEST(SweepCommand, EveryCaseIsNamedBeforeItRuns) {
  std::string seen;
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  run_command_line({"sweep", "--variant", "flash2", "-N", "512", "-d", "64"},
                   opener([&](FakeBackend& backend) {
                     backend.on_prepare = [&](const Case&) { seen = testing::internal::GetCapturedStderr(); };
                   }));
  testing::internal::GetCapturedStdout();
  EXPECT_THAT(seen, HasSubstr("[1/1] flash2"));
}

TEST(SweepCommand, WithoutAFileAHintSaysSo) {
  const Result result = run(plan());
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("nothing was written; -o FILE.csv"));
}

TEST(SweepCommand, ExitCodes) {
  const TemporaryFolder folder;
  const auto fail = [](FakeBackend& backend) {
    backend.on_prepare = [](const Case& c) {
      if (c.problem.q_len == 512) throw CaseFailed("the kernel crashed, \"badly\"");
    };
  };
  const Result failed = run(plan({"-o", folder / "failed.csv"}), fail);
  EXPECT_EQ(failed.code, 1);
  EXPECT_THAT(failed.err, HasSubstr("failed: the kernel crashed"));
  EXPECT_THAT(dispositions(folder / "failed.csv"), testing::ElementsAre("failed", "failed", "ok", "ok"));
  EXPECT_EQ(read_rows(folder / "failed.csv").rows[0].status.reason, "the kernel crashed, \"badly\"");

  const Result wrong =
      run(plan({"-o", folder / "wrong.csv"}), [](FakeBackend& backend) { backend.wrong_variant = "naive"; });
  EXPECT_EQ(wrong.code, 1);
  const auto rows = read_rows(folder / "wrong.csv").rows;
  EXPECT_EQ(rows[0].status.disposition, "incorrect");
  EXPECT_FALSE(rows[0].latency.median_ns || rows[0].roofline.useful_tflops_per_s)
      << "no speed for a wrong output";

  EXPECT_EQ(run(plan({"--br", "24"})).code, 3) << "all skipped";
  EXPECT_THAT(run(plan({"--br", "24"})).err, HasSubstr("every case was skipped"));
  EXPECT_EQ(run(plan({"--br", "24,64"})).code, 0) << "some skipped";
  EXPECT_EQ(run(plan({"-N", "0"})).code, 2);
  EXPECT_EQ(run({"sweep", "--variant", "none-such"}).code, 2);
  EXPECT_THAT(run(plan({"-N", "0"})).err, testing::StartsWith("attnprof: -N '0'"));
}

TEST(SweepCommand, AnInterruptKeepsWhatWasMeasured) {
  const TemporaryFolder folder;
  const Result result = run(plan({"-o", folder / "o.csv"}), [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 2) raise(SIGINT);
    };
  });
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(dispositions(folder / "o.csv"), testing::ElementsAre("ok", "ok"));
  EXPECT_THAT(result.err, HasSubstr("--resume completes it"));
  const Result last = run(plan(), [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 4) raise(SIGINT);
    };
  });
  EXPECT_EQ(last.code, 130) << "also in the last case";
}

TEST(SweepCommand, AnExistingFileIsNeverTouchedUnasked) {
  const TemporaryFolder folder;
  write_text(folder / "o.csv", "something else");
  const Result result = run(plan({"-o", folder / "o.csv"}));
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr("--append"), HasSubstr("--resume"), HasSubstr("--overwrite")));
  for (const char* how : {"--append", "--resume"})
    EXPECT_EQ(run(plan({"-o", folder / "o.csv", how})).code, 2) << how;
  EXPECT_EQ(text_of(folder / "o.csv"), "something else");
  EXPECT_FALSE(std::filesystem::exists(folder / "o.csv.meta.json"));
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--overwrite"})).code, 0);
  EXPECT_EQ(read_rows(folder / "o.csv").rows.size(), 4u);
}

TEST(SweepCommand, AFileThatCannotBeWrittenIsRefusedBeforeAnythingRuns) {
  size_t prepared = 0;
  const Result result = run(plan({"-o", "/nonexistent/folder/o.csv"}), [&](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) { ++prepared; };
  });
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(prepared, 0u);
  EXPECT_THAT(result.err, HasSubstr("/nonexistent/folder/o.csv cannot be written"));
}

TEST(SweepCommand, AnErrorThatEndsTheSweepStillPrintsWhatWasMeasured) {
  const TemporaryFolder folder;
  const Change lost = [](FakeBackend& backend) {
    backend.on_prepare = [&](const Case&) {
      if (backend.prepared == 3) throw EnvironmentError("the GPU is lost");
    };
  };
  const Result result = run(plan({"-o", folder / "o.csv"}), lost);
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.out, AllOf(HasSubstr("naive"), HasSubstr("12.5 us")));
  EXPECT_THAT(result.err, AllOf(HasSubstr("--resume completes it"), HasSubstr("attnprof: the GPU is lost")));
  EXPECT_THAT(dispositions(folder / "o.csv"), testing::ElementsAre("ok", "ok"));
  EXPECT_THAT(run(plan({"--format", "json"}), lost).out, HasSubstr("\"latency_median_ns\": 12500"));
}

TEST(SweepCommand, OnlyARegularFileIsWritten) {
  const TemporaryFolder folder;
  for (const std::string& name : {folder / "", std::string("/dev/zero")})
    for (const char* how : {"--append", "--resume", "--overwrite"}) {
      const Result result = run(plan({"-o", name, how}));
      EXPECT_EQ(result.code, 3) << name;
      EXPECT_THAT(result.err, HasSubstr("rows are kept in a file"));
    }
  std::filesystem::create_symlink(folder / "o.csv", folder / "link.csv");
  write_text(folder / "o.csv", "");
  EXPECT_EQ(run(plan({"-o", folder / "link.csv", "--append"})).code, 0);
  EXPECT_EQ(read_rows(folder / "o.csv").rows.size(), 4u);
}

TEST(SweepCommand, RowsStayWhereTheMetaFileCannotBeWritten) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv"})).code, 0);
  const std::string rows = text_of(folder / "o.csv");
  std::filesystem::remove(folder / "o.csv.meta.json");
  std::filesystem::create_directories(folder / "o.csv.meta.json");
  EXPECT_EQ(run(plan({"-o", folder / "o.csv", "--overwrite"})).code, 3);
  EXPECT_EQ(text_of(folder / "o.csv"), rows);
  std::filesystem::create_directories(folder / "new.csv.meta.json");
  EXPECT_EQ(run(plan({"-o", folder / "new.csv"})).code, 3);
  EXPECT_FALSE(std::filesystem::exists(folder / "new.csv")) << "nothing is left of a sweep that never began";
}

TEST(SweepCommand, AppendAddsARunAndItsMeta) {
  const TemporaryFolder folder;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(run(plan({"-o", folder / "o.csv", "--append"})).code, 0);
  const RowFile file = read_rows(folder / "o.csv");
  ASSERT_EQ(file.rows.size(), 8u);
  EXPECT_NE(file.rows[0].provenance.run, file.rows[7].provenance.run);
  const std::string meta = text_of(folder / "o.csv.meta.json");
  for (const Row& row : file.rows) EXPECT_TRUE(find_run(meta, row.provenance.run, "meta"));
  const std::string text = text_of(folder / "o.csv");
  write_text(folder / "o.csv", text.substr(0, text.size() - 5));
  const Result torn = run(plan({"-o", folder / "o.csv", "--append"}));
  EXPECT_EQ(torn.code, 2);
  EXPECT_THAT(torn.err, HasSubstr("line 9"));
  EXPECT_EQ(text_of(folder / "o.csv"), text.substr(0, text.size() - 5));
}

// Runs the plan until row `rows` is written, as if the program was killed there.
void run_killed(const std::string& file, size_t rows, size_t torn_bytes) {
  struct Killed {};
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_THROW(run_command_line(plan({"-o", file}), opener([&](FakeBackend& backend) {
                                  backend.on_prepare = [&](const Case&) {
                                    if (backend.prepared > rows) throw Killed{};
                                  };
                                })),
               Killed);
  testing::internal::GetCapturedStdout();
  testing::internal::GetCapturedStderr();
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
  EXPECT_THAT(result.out, HasSubstr("12.5 us")) << "the table has the rows that were there";
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

TEST(SweepCommand, MetaDescribesTheRun) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "o.csv", "--seed", "9"})).code, 0);
  const std::string meta = text_of(folder / "o.csv.meta.json");
  const Row row = read_rows(folder / "o.csv").rows.front();
  const auto record = find_run(meta, row.provenance.run, "meta");
  ASSERT_TRUE(record);
  EXPECT_EQ(record->env_id, row.provenance.env_id);
  EXPECT_EQ(record->env_id, env_id(FakeBackend().info()));
  EXPECT_THAT(record->command_line, HasSubstr("--seed 9"));
  for (const char* part :
       {"\"seed\": 9", "\"version\": \"" ATTNPROF_VERSION "\"", "\"commit\"", "\"hbm_gbps\": 1000",
        "\"input\"", "\"driver\": \"1.2\"", "\"tensor_16bit_tflops\""})
    EXPECT_THAT(meta, HasSubstr(part));
}

TEST(SweepCommand, MetaNamesTheInputs) {
  const TemporaryFolder folder;
  const auto input_of = [&](const std::vector<std::string>& options) {
    std::vector<std::string> args = {"-o", folder / "i.csv", "--overwrite"};
    args.insert(args.end(), options.begin(), options.end());
    EXPECT_EQ(run(plan(args)).code, 0);
    return text_of(folder / "i.csv.meta.json");
  };
  EXPECT_THAT(input_of({}), HasSubstr("\"input\": \"random, near N(0, 1)\""));
  EXPECT_THAT(input_of({"--input", "outliers"}), HasSubstr("Bernoulli(0.001)"));
}

TEST(SweepCommand, AnotherInputIsAnotherPlanToResume) {
  const TemporaryFolder folder;
  ASSERT_EQ(run(plan({"-o", folder / "r.csv"})).code, 0);
  EXPECT_EQ(run(plan({"-o", folder / "r.csv", "--resume"})).code, 0);
  EXPECT_NE(run(plan({"-o", folder / "r.csv", "--resume", "--input", "outliers"})).code, 0);
}

TEST(SweepCommand, StandardOutputIsPureInEveryFormat) {
  const Result csv = run(plan({"--format", "csv"}));
  EXPECT_EQ(parse_rows(csv.out, "stdout").rows.size(), 4u);
  EXPECT_EQ(run(plan({"--format", "csv", "--columns", "variant,q_len"})).out,
            "variant,q_len\nnaive,512\nflash2,512\nnaive,1024\nflash2,1024\n");
  EXPECT_EQ(run(plan({"-N", "512", "--variant", "flash2", "--format", "json", "--columns",
                      "variant,q_len,hbm_bytes"}))
                .out.substr(0, 1),
            "[");
}

TEST(DryRun, RunsAndWritesNothing) {
  const TemporaryFolder folder;
  size_t prepared = 0;
  const Result result =
      run(plan({"-o", folder / "o.csv", "--dry-run", "--br", "64,72"}),
          [&](FakeBackend& backend) { backend.on_prepare = [&](const Case&) { ++prepared; }; });
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(prepared, 0u);
  EXPECT_FALSE(std::filesystem::exists(folder / "o.csv"));
  EXPECT_THAT(result.out, AllOf(HasSubstr("8 cases: 4 to run, 4 skipped. Nothing was run."),
                                HasSubstr("Br = 72 is no multiple of 16"), HasSubstr("flash2.cu flash2 "),
                                HasSubstr("Kernels to compile for sm_90a on a GPU: ")));
}

TEST(DryRun, NamesNoTileWhereALibraryChoosesIt) {
  const Result result = run({"sweep", "--dry-run", "--variant", "standard", "-N", "512", "-d", "64"});
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.out, AllOf(HasSubstr("standard d=64 no tile: "), Not(HasSubstr("0x0"))));
}

TEST(DryRun, OfAGpuPlanNeedsNoGpu) {
  const BackendOpener none = [](const DeviceChoice&, const MeasureOptions&) -> OpenBackend {
    throw EnvironmentError("no GPU here");
  };
  testing::internal::CaptureStdout();
  const int code = run_command_line({"sweep", "--backend", "gpu", "--target", "h200", "--dry-run",
                                     "--variant", "flash2", "--format", "csv"},
                                    none);
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(code, 0);
  EXPECT_THAT(out, HasSubstr("flash2 128x128 fp16 full b1 h16 N512 d64 cold,"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_command_line({"sweep", "--backend", "gpu"}, none), 3);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "attnprof: no GPU here\n");
}

}  // namespace
}  // namespace attnprof
