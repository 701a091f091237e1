// What goes to standard output: rows with `-o -`, no notices with --quiet, colour on a terminal alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "base/run_program.hpp"
#include "cli/sweep_fixture.hpp"
#include "measure/compile/nvcc_fixture.hpp"
#include "test_paths.hpp"
#include "testing/on_terminal.hpp"
#include "testing/program.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::string forward_rows = ATTNPROF_SOURCE_DIR "/src/testing/rows/forward.csv";

// Rows and nothing else, whole: through the program, whose standard output is a file here.
std::string standard_output_of(const Args& args, int code = 0) {
  const TemporaryFolder folder;
  const std::string errors = folder / "errors";
  Program program(args, folder / "out", {}, [&] {
    chdir((folder / "").c_str());
    dup2(open(errors.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
  });
  EXPECT_EQ(program.wait(), code) << text_of(errors);
  for (const auto& entry : std::filesystem::directory_iterator(folder / ""))
    EXPECT_THAT(entry.path().filename().string(), testing::AnyOf("out", "errors"))
        << "no meta file, no file named -";
  return program.output();
}

TEST(StandardOutput, TakesTheRowsOfASweepAndOfATuning) {
  const std::string rows = standard_output_of(
      {"sweep", "--backend", "sim", "--variant", "naive,flash2", "-N", "64", "-d", "64", "-o", "-"});
  EXPECT_EQ(parse_rows(rows, "stdout").rows.size(), 2u) << rows;
  const std::string tuned =
      standard_output_of({"tune", "--backend", "sim", "--variant", "flash2", "-N", "64", "-d", "64", "--br",
                          "64", "--bc", "32,64", "--no-compile", "-o", "-"});
  EXPECT_EQ(parse_rows(tuned, "stdout").rows.size(), 3u) << tuned;
}

TEST(StandardOutput, TakesWhatReadersOfRowsWrite) {
  const Args explain = {"explain", forward_rows, "--case", "variant=flash2,N=1k", "--format", "json"};
  for (Args args : {explain, Args{"roofline", forward_rows}}) {
    const std::string direct = standard_output_of(args);
    args.insert(args.end(), {"-o", "-"});
    EXPECT_EQ(standard_output_of(args), direct) << args.front();
  }
}

using StandardOutputOfKernels = NvccTest;

// Rows once and no table beside them.
TEST_F(StandardOutputOfKernels, TakesTheRowsOfBuiltFiles) {
  const TemporaryFolder built;
  write_text(built / "k.cu", "__global__ void f(int* x) { *x = 1; }\n");
  ASSERT_EQ(
      run_program({find_toolchain().nvcc, "-cubin", "-arch=sm_90", built / "k.cu", "-o", built / "k.cubin"},
                  built / "log"),
      0);
  for (const char* name : {"-", "/dev/stdout"})
    for (const char* format : {"table", "json"}) {
      const std::string rows =
          standard_output_of({"resources", built / "k.cubin", "--format", format, "-o", name});
      EXPECT_THAT(rows, StartsWith("file,arch,kernel,copy,run,"));
      EXPECT_EQ(std::ranges::count(rows, '\n'), 2) << rows;
    }
}

TEST(StandardOutput, IsNotForTwoThings) {
  for (const Args& more : {Args{"--format", "csv"}, {"--columns", "variant"}}) {
    const Result result = run(plan({"-o", "-", more[0], more[1]}));
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, HasSubstr("-o - and " + more[0] + " contradict each other"));
  }
  EXPECT_THAT(run({"roofline", forward_rows, "--plot", "-o", "-"}).err,
              HasSubstr("--plot and -o - contradict each other"));
  EXPECT_THAT(run(plan({"-o", "-", "--resume"})).err, HasSubstr("holds no earlier rows: leave out --resume"));
}

TEST(StandardOutput, QuietIsWithoutProgressAndNotices) {
  const TemporaryFolder folder;
  const Result loud = run(plan()), quiet = run(plan({"--quiet"}));
  EXPECT_THAT(loud.err,
              AllOf(HasSubstr("backend fake"), HasSubstr("[1/4]"), HasSubstr("nothing was written")));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, loud.out);
  EXPECT_EQ(run({"--quiet", "sweep", "--variant", "flash2", "-N", "512", "-d", "64"}).err, "");
  EXPECT_NE(run(plan()).err, "") << "until it is asked for again";
}

TEST(StandardOutput, QuietSaysErrorsAndWhatExplainsAnExitCode) {
  const auto fail = [](FakeBackend& backend) {
    backend.on_prepare = [](const Case& c) {
      if (c.problem.q_len == 512) throw CaseFailed("the kernel crashed");
    };
  };
  EXPECT_THAT(run(plan({"--quiet"}), fail).err, HasSubstr("failed: the kernel crashed"));
  EXPECT_THAT(run(plan({"--quiet", "--br", "24"})).err, HasSubstr("every case was skipped"));
  EXPECT_THAT(run(plan({"--quiet", "-N", "0"})).err, StartsWith("attnprof: -N '0'"));
}

TEST(StandardOutput, DoctorIsColouredOnATerminalThatTakesColour) {
  EXPECT_THAT(OnTerminal({"doctor"}).output(), HasSubstr("\x1b[32mok"));
  EXPECT_THAT(OnTerminal({"doctor"}, {"NO_COLOR=1"}).output(),
              AllOf(HasSubstr("ok"), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(OnTerminal({"doctor"}, {"TERM=dumb"}).output(), Not(HasSubstr("\x1b")));
  EXPECT_THAT(standard_output_of({"doctor"}), AllOf(HasSubstr("ok"), Not(HasSubstr("\x1b"))));
}

}  // namespace
}  // namespace attnprof
