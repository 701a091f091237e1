// The program itself, through its path: exit codes, signals, streams.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "row/row_csv.hpp"
#include "test_paths.hpp"
#include "testing/program.hpp"
#include "testing/run_id.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

int exit_code(const Args& args, std::string* output = nullptr, const Args& environment = {}) {
  const TemporaryFolder folder;
  Program program(args, folder / "output.txt", environment);
  const int code = program.wait();
  if (output) *output = program.output();
  return code;
}

// Many small cases, so that there is time to interrupt them.
Args long_sweep(const std::string& file, Args more = {}) {
  Args args = {"sweep", "--backend", "sim",         "--variant", "flash2",    "-N", "64:512:64", "-d",
               "16,32", "--mask",    "full,causal", "--dtype",   "fp16,bf16", "-o", file};
  args.insert(args.end(), more.begin(), more.end());
  return args;
}
constexpr size_t long_sweep_rows = 8 * 2 * 2 * 2;

size_t lines_in(const std::string& file) {
  const std::string text = text_of(file);
  return static_cast<size_t>(std::ranges::count(text, '\n'));
}

void wait_for_lines(const std::string& file, size_t lines) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (lines_in(file) < lines && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(Binary, ExitCodesAndOneLineErrors) {
  std::string output;
  EXPECT_EQ(exit_code({"--version"}, &output), 0);
  EXPECT_THAT(output, testing::StartsWith("attnprof " ATTNPROF_VERSION));
  EXPECT_EQ(exit_code({"sweep", "--help"}), 0);
  EXPECT_EQ(exit_code({"list"}), 0);
  for (const Args& args : std::vector<Args>{{},
                                            {"frobnicate"},
                                            {"sweep", "-N", "1k:512:x2"},
                                            {"sweep", "--no-such"},
                                            {"sweep", "--config", "/nonexistent"},
                                            {"compile", "--arch", "sm_12"}}) {
    EXPECT_EQ(exit_code(args, &output), 2) << output;
    EXPECT_THAT(output, testing::StartsWith("attnprof: "));
    EXPECT_EQ(std::ranges::count(output, '\n'), 1) << output;
  }
  EXPECT_EQ(exit_code({"sweep", "--backend", "sim", "-N", "512", "--br", "24"}), 3);
}

// What a library takes is not known, and 0 would be wrong.
TEST(Binary, ListSaysThatALibrarysSharedMemoryIsItsOwn) {
  std::string output;
  EXPECT_EQ(exit_code({"list"}, &output, {"COLUMNS=200"}), 0);
  EXPECT_THAT(output, HasSubstr("fp16 d=64: tile none, shared memory as the library takes it"));
  EXPECT_EQ(exit_code({"list", "--format", "json"}, &output), 0);
  EXPECT_THAT(output, testing::Not(HasSubstr("\"smem_bytes\": 0")));
}

TEST(Binary, SweepsInTheSimulator) {
  std::string output;
  const Args args = {"sweep", "--backend", "sim", "-N", "256", "-d", "64"};
  EXPECT_EQ(exit_code(args, &output, {"COLUMNS=80"}), 0) << output;
  EXPECT_THAT(output, HasSubstr("backend sim, target h200"));
  for (const char* variant : {"naive ", "standard ", "flash1 ", "flash2 "})
    EXPECT_THAT(output, HasSubstr(variant));
  EXPECT_EQ(output.find("\x1b"), std::string::npos) << "no colour where no terminal is";
}

TEST(Binary, TwoSimulatedSweepsPassTheGateAndAnotherDeviceIsRefused) {
  const TemporaryFolder folder;
  const auto sweep = [&](const std::string& name, const char* target) {
    return exit_code(
        {"sweep", "--backend", "sim", "--target", target, "-N", "256", "-d", "64", "-o", folder / name});
  };
  ASSERT_EQ(sweep("a.csv", "h200"), 0);
  ASSERT_EQ(sweep("b.csv", "h200"), 0);
  ASSERT_EQ(sweep("c.csv", "a100-sxm-80g"), 0);
  std::string output;
  EXPECT_EQ(exit_code({"gate", folder / "a.csv", folder / "b.csv", "--junit", "/dev/stdout"}, &output), 0)
      << output;
  EXPECT_THAT(output,
              testing::AllOf(HasSubstr("</testsuites>"), HasSubstr("gate passed: 5 of 5 rows the same; ")));
  EXPECT_EQ(exit_code({"gate", folder / "a.csv", folder / "c.csv"}, &output), 3);
  EXPECT_THAT(output, HasSubstr("not comparable: device (h200 in the baseline, a100-sxm-80g now)"));
}

// The exit code of the program under a shell's redirections.
int run_redirected(const std::string& args, const std::string& redirections) {
  const std::string command = fmt::format("exec \"$0\" {} {}", args, redirections);
  const pid_t shell = fork();
  if (shell == 0) {
    execl("/bin/sh", "sh", "-c", command.c_str(), ATTNPROF_BINARY, nullptr);  // a path, whatever it is called
    _exit(127);
  }
  int status = 0;
  waitpid(shell, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(Binary, NoStateOfTheStandardStreamsCostsARow) {
  const TemporaryFolder folder;
  const std::pair<const char*, int> expected[] = {
      {">/dev/full 2>&-", 3}, {">&- 2>&-", 0}, {"<&- >&- 2>&-", 0}, {">/dev/null 2>/dev/full", 0}};
  for (const char* format : {"csv", "table"})
    for (const auto& [redirections, code] : expected) {
      const std::string file = folder / "o.csv";
      EXPECT_EQ(run_redirected(fmt::format("sweep --backend sim -N 64 -d 64 --variant "
                                           "flash1,flash2 --format {} -o '{}' --overwrite",
                                           format, file),
                               redirections),
                code)
          << redirections;
      EXPECT_EQ(read_rows(file).rows.size(), 2u) << redirections << ": " << text_of(file);
    }
}

TEST(Binary, TheGateOfASweepKeepsItsVerdictWhateverBecomesOfStandardError) {
  const TemporaryFolder folder;
  const std::string sweep = "sweep --backend sim -N 64 -d 64 --variant flash1,flash2 --format csv -o ";
  ASSERT_EQ(run_redirected(sweep + "'" + (folder / "a.csv") + "'", ">/dev/null 2>&1"), 0);
  for (const char* redirections : {">/dev/null 2>/dev/full", ">/dev/null 2>&-"})
    EXPECT_EQ(run_redirected(
                  fmt::format("{}'{}' --overwrite --gate '{}'", sweep, folder / "b.csv", folder / "a.csv"),
                  redirections),
              0)
        << redirections;
}

TEST(Binary, OutputThatIsLostIsAnError) {
  const TemporaryFolder folder;
  const std::string log = folder / "log";
  for (const char* args : {"list", "--help", "list --columns --format csv", "doctor",
                           "sweep --backend sim -N 64 -d 64 --variant flash2 --format csv",
                           "sweep --backend sim -N 64 -d 64 --variant flash2 --format json",
                           "sweep --backend sim -N 64 -d 64 --variant flash2 --dry-run"}) {
    EXPECT_EQ(run_redirected(args, ">/dev/full 2>'" + log + "'"), 3) << args;
    EXPECT_THAT(text_of(log), HasSubstr("attnprof: standard output cannot be written")) << args;
  }
}

TEST(Binary, CountersOnNeverEndsInTheSimulator) {
  std::string output;
  EXPECT_EQ(exit_code({"sweep", "--backend", "sim", "--counters", "on"}, &output), 2);
  EXPECT_EQ(exit_code({"sweep", "--target", "h200", "--counters", "on"}, &output), 2);
  EXPECT_THAT(output, HasSubstr("--counters on asks for hardware counters"));
  EXPECT_EQ(exit_code({"sweep", "--counters", "on"}, &output, {"CUDA_VISIBLE_DEVICES="}), 3);
  EXPECT_THAT(output, HasSubstr("--counters on needs the gpu backend"));
}

TEST(Binary, CompileLooksAtItsOutputFirst) {
  const TemporaryFolder folder;
  std::string output;
  EXPECT_EQ(exit_code({"compile", "--arch", "sm_80", "--variant", "standard", "--br", "64", "-o",
                       folder / "b.csv"}),
            3);
  EXPECT_FALSE(std::filesystem::exists(folder / "b.csv")) << "no kernel, no file";
  EXPECT_EQ(exit_code({"compile", "--arch", "sm_80", "--variant", "flash3"}, &output), 3);
  EXPECT_THAT(output, HasSubstr("no kernel to compile: flash3 is built on wgmma"));
  EXPECT_NE(
      exit_code({"compile", "--arch", "sm_80", "--variant", "flash2", "-d", "64", "-o", folder / "no/b.csv"},
                &output),
      0);
  EXPECT_EQ(output.find("compiled for"), std::string::npos) << output;
}

TEST(Binary, AnInterruptKeepsTheRowsAndResumeCompletesThem) {
  const TemporaryFolder folder;
  const std::string file = folder / "o.csv";
  Program program(long_sweep(file), folder / "output.txt");
  wait_for_lines(file, 4);
  program.signal(SIGINT);
  EXPECT_EQ(program.wait(), 130) << program.output();
  const RowFile rows = read_rows(file);
  EXPECT_FALSE(rows.torn);
  EXPECT_GE(rows.rows.size(), 3u);
  EXPECT_LT(rows.rows.size(), long_sweep_rows);
  EXPECT_EQ(exit_code(long_sweep(file, {"--resume"})), 0);
  EXPECT_EQ(read_rows(file).rows.size(), long_sweep_rows);
}

// Each says what Ctrl-C says: what was kept, and how to go on.
TEST(Binary, AnySignalThatEndsASweepKeepsTheRowsAndSaysHowToGoOn) {
  for (const int number : {SIGTERM, SIGHUP, SIGUSR1, SIGQUIT}) {
    const TemporaryFolder folder;
    const std::string file = folder / "o.csv";
    Program program(long_sweep(file), folder / "output.txt");
    wait_for_lines(file, 4);
    program.signal(number);
    EXPECT_EQ(program.wait(), 128 + number) << program.output();
    EXPECT_THAT(program.output(), HasSubstr(file + " has every finished row; --resume completes it"));
    const RowFile rows = read_rows(file);
    EXPECT_FALSE(rows.torn);
    EXPECT_GE(rows.rows.size(), 3u);
    EXPECT_LT(rows.rows.size(), long_sweep_rows);
    if (number != SIGTERM) continue;
    EXPECT_EQ(exit_code(long_sweep(file, {"--resume"})), 0);
    EXPECT_EQ(read_rows(file).rows.size(), long_sweep_rows);
  }
}

TEST(Binary, AnEndedSweepWithoutAFileSaysSo) {
  const TemporaryFolder folder;
  Args args = long_sweep("");
  args.resize(args.size() - 2);
  Program program(args, folder / "output.txt");
  wait_for_lines(folder / "output.txt", 4);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 143);
  EXPECT_THAT(program.output(),
              HasSubstr("ended by SIGTERM, with all that it had started; nothing was written"));
}

TEST(Binary, AKilledSweepIsResumedToTheSameFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(exit_code(long_sweep(folder / "whole.csv")), 0);
  const std::string file = folder / "killed.csv";
  {
    Program program(long_sweep(file), folder / "output.txt");
    wait_for_lines(file, 5);
    program.signal(SIGKILL);
    ASSERT_EQ(program.wait(), -SIGKILL);
  }
  for (size_t lines : {15u, 30u}) {
    Program program(long_sweep(file, {"--resume"}), folder / "output.txt");
    wait_for_lines(file, lines);
    program.signal(SIGKILL);
    ASSERT_EQ(program.wait(), -SIGKILL) << program.output();
  }
  EXPECT_EQ(exit_code(long_sweep(file, {"--resume"})), 0);
  EXPECT_EQ(without_run(text_of(file)), without_run(text_of(folder / "whole.csv")));
}

TEST(Binary, TwoSweepsIntoOneFileAreRefused) {
  const TemporaryFolder folder;
  const std::string file = folder / "o.csv";
  Program first(long_sweep(file), folder / "output.txt");
  wait_for_lines(file, 2);
  std::string output;
  EXPECT_EQ(exit_code(long_sweep(file, {"--append"}), &output), 2);
  EXPECT_THAT(output, HasSubstr("is being written by another attnprof"));
  first.signal(SIGKILL);
  first.wait();
}

}  // namespace
}  // namespace attnprof
