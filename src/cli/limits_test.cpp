// Limits of the system end the program with a sentence and its exit code, or cost it nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "row/row_csv.hpp"
#include "testing/program.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;

Args sweep_to(const std::string& file) {
  return {"sweep", "--backend", "sim", "--variant", "flash2", "-N", "64:512:64", "-d", "16,32", "-o", file};
}

// The size of a file may not exceed so many bytes. Their own output is a file too.
std::function<void()> files_up_to(rlim_t bytes) {
  return [bytes] {
    const rlimit limit{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
}

TEST(Limits, AFileThatMayGrowNoMoreIsAnErrorAndItsRowsAreKept) {
  const TemporaryFolder folder;
  const std::string file = folder / "o.csv";
  Program program(sweep_to(file), folder / "output.txt", {}, files_up_to(5000));
  EXPECT_EQ(program.wait(), 3) << program.output();
  EXPECT_THAT(
      program.output(),
      AllOf(HasSubstr("o.csv cannot be written: File too large; raise the limit of a file's size (ulimit -f) "
                      "and go on with --resume"),
            HasSubstr("has every finished row")));
  EXPECT_GE(read_rows(file).rows.size(), 1u);
  Args resumed = sweep_to(file);
  resumed.emplace_back("--resume");
  Program rest(resumed, folder / "output.txt");
  EXPECT_EQ(rest.wait(), 0) << rest.output();
  EXPECT_EQ(read_rows(file).rows.size(), 16u);
}

TEST(Limits, StandardOutputThatMayGrowNoMoreIsAnError) {
  const TemporaryFolder folder;
  Program program({"list", "--columns"}, folder / "output.txt", {}, files_up_to(2000));
  EXPECT_EQ(program.wait(), 3);
}

// A stack that no address space holds: every thread fails to start, as with the limit of processes, which
// does not bind root.
void forbid_threads() {
  const rlimit limit{rlim_t{1} << 47, RLIM_INFINITY};
  setrlimit(RLIMIT_STACK, &limit);
}

TEST(Limits, WithoutThreadsItGoesOnOrSaysSo) {
  const TemporaryFolder folder;
  const auto run = [&](const Args& args) {
    Program program(args, folder / "output.txt", {}, forbid_threads);
    const int code = program.wait();
    return std::pair(code, program.output());
  };
  EXPECT_EQ(run({"list"}).first, 0);
  const auto [swept, sentences] = run(sweep_to(folder / "o.csv"));
  EXPECT_EQ(swept, 0) << sentences;
  const auto [gated, sentence] = run({"gate", folder / "o.csv", folder / "o.csv"});
  EXPECT_EQ(gated, 3);
  EXPECT_EQ(
      sentence,
      "attnprof: a thread cannot be started, since the limit of threads and processes is reached; raise it "
      "(ulimit -u)\n");
}

TEST(Limits, NoAdviceNamesAnOptionThatTheCommandLacks) {
  const TemporaryFolder folder;
  write_text(folder / "o.csv", "");
  for (const Args& args : {Args{"tune", "--variant", "flash2", "--backend", "sim", "-o", folder / "o.csv"},
                           {"trace", "-o", folder / "o.csv", "--", "true"}}) {
    Program program(args, folder / "output.txt");
    program.wait();
    EXPECT_THAT(program.output(), testing::Not(HasSubstr("--resume"))) << args.front();
  }
  Program tune({"tune", "--backend", "sim", "--variant", "flash2", "-N", "64", "-d", "64", "--no-compile",
                "-o", folder / "new.csv"},
               folder / "output.txt", {}, files_up_to(5000));
  EXPECT_EQ(tune.wait(), 3);
  EXPECT_THAT(tune.output(),
              AllOf(HasSubstr("(ulimit -f) and run it again"), testing::Not(HasSubstr("--resume"))));
}

}  // namespace
}  // namespace attnprof
