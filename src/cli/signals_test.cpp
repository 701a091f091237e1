// The program is ended by a signal while a compiler runs: what it says, its exit code, and that nothing is
// left.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <thread>

#include "test_paths.hpp"
#include "testing/processes.hpp"
#include "testing/program.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

// Never comes to an end; notes its process and that of a child of its own, and leaves a temporary file.
constexpr const char* endless_nvcc = R"(#!/bin/sh
if [ "$1" = --version ]; then echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; fi
here=$(dirname "$0")
sleep 600 &
echo $! $$ >> "$here/pids"
echo half > "${TMPDIR:-/tmp}/tmpxft"
wait
)";

class Signals : public testing::Test {
 protected:
  Signals() {
    write_text(nvcc(), endless_nvcc);
    chmod(nvcc().c_str(), 0700);
    fs::create_directories(scratch());
  }
  std::string nvcc() const { return folder_ / "nvcc"; }
  std::string scratch() const { return folder_ / "scratch"; }
  std::string cache() const { return folder_ / "cache"; }

  Program start(Args args, const std::function<void()>& before_exec = {}) const {
    for (const char* word : {"--kernels", ATTNPROF_SOURCE_DIR "/kernels", "--cache-dir"})
      args.emplace_back(word);
    args.push_back(cache());
    return Program(args, folder_ / "output", {"CUDACXX=" + nvcc(), "TMPDIR=" + scratch()}, before_exec);
  }

  std::vector<pid_t> compilers() const {
    std::vector<pid_t> pids;
    std::istringstream text(text_of(folder_ / "pids"));
    for (pid_t pid; text >> pid;) pids.push_back(pid);
    return pids;
  }
  void wait_for_a_compiler(Program& program) const {
    ASSERT_TRUE(wait_until([&] { return compilers().size() >= 2; })) << program.output();
  }

  // What scratch there is, in both places.
  std::vector<std::string> scratch_left() const {
    std::vector<std::string> left;
    for (const std::string& parent : {scratch(), cache() + "/tmp"})
      if (fs::exists(parent))
        for (const auto& entry : fs::directory_iterator(parent)) left.push_back(entry.path().string());
    return left;
  }
  void expect_nothing_left() const {
    for (pid_t pid : compilers())
      EXPECT_TRUE(wait_until([&] { return !is_running(pid); })) << pid << " is still there";
    EXPECT_THAT(scratch_left(), testing::IsEmpty());
  }

  TemporaryFolder folder_;
};

struct Named {
  int number;
  const char* name;
};
constexpr Named all_signals[] = {{SIGINT, "SIGINT (Ctrl-C)"},
                                 {SIGTERM, "SIGTERM"},
                                 {SIGHUP, "SIGHUP"},
                                 {SIGQUIT, "SIGQUIT (Ctrl-\\)"},
                                 {SIGUSR1, "SIGUSR1"}};

const Args compile_many = {"compile", "--arch", "sm_90a", "--variant", "flash1,flash2,naive", "-d", "64,128"};
const Args tune_some = {"tune", "--backend", "sim", "--variant", "flash2", "-N", "512", "-d", "64"};

TEST_F(Signals, EndCompilingWithASentenceAndNothingLeft) {
  for (const Args& args : {compile_many, tune_some})
    for (const Named& signal : all_signals) {
      fs::remove(folder_ / "pids");
      Program program = start(args);
      wait_for_a_compiler(program);
      program.signal(signal.number);
      EXPECT_EQ(program.wait(), 128 + signal.number) << args[0] << program.output();
      EXPECT_THAT(program.output(),
                  HasSubstr(fmt::format("attnprof: ended by {}, with all that it had started", signal.name)));
      expect_nothing_left();
    }
}

TEST_F(Signals, ManyAtOnceEndItOnce) {
  Program program = start(compile_many);
  wait_for_a_compiler(program);
  for (int i = 0; i < 20; ++i)
    for (const Named& signal : all_signals) program.signal(signal.number);
  const int code = program.wait();
  EXPECT_THAT(code, testing::AnyOf(128 + SIGINT, 128 + SIGTERM, 128 + SIGHUP, 128 + SIGQUIT, 128 + SIGUSR1))
      << program.output();
  EXPECT_EQ(std::ranges::count(program.output(), '\n'), 1) << program.output();
  expect_nothing_left();
}

TEST_F(Signals, WhatWasIgnoredStaysIgnored) {
  Program program = start(compile_many, [] { ::signal(SIGHUP, SIG_IGN); });
  wait_for_a_compiler(program);
  program.signal(SIGHUP);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_TRUE(is_running(program.pid())) << "as under nohup";
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait(), 128 + SIGTERM) << program.output();
  expect_nothing_left();
}

// The next start finds the scratch of what was killed, and leaves that of what runs.
TEST_F(Signals, ScratchOfAKilledProgramGoesAtTheNextStart) {
  Program killed = start(compile_many);
  wait_for_a_compiler(killed);
  killed.signal(SIGKILL);
  EXPECT_EQ(killed.wait(), -SIGKILL);
  const std::vector<std::string> abandoned = scratch_left();
  EXPECT_FALSE(abandoned.empty()) << "nobody could remove it";
  for (pid_t pid : compilers()) kill(pid, SIGKILL);
  fs::create_directories(cache() + "/tmp/attnprof-foreign");
  fs::remove(folder_ / "pids");
  Program next = start(compile_many);
  wait_for_a_compiler(next);
  for (const std::string& path : abandoned) EXPECT_FALSE(fs::exists(path)) << path;
  EXPECT_TRUE(fs::exists(cache() + "/tmp/attnprof-foreign")) << "not known to be ours";
  const std::vector<std::string> in_use = scratch_left();
  Program third = start({"doctor"});
  third.wait();
  for (const std::string& path : in_use) EXPECT_TRUE(fs::exists(path)) << path << " is in use";
  next.signal(SIGTERM);
  EXPECT_EQ(next.wait(), 128 + SIGTERM);
  fs::remove(cache() + "/tmp/attnprof-foreign");
  expect_nothing_left();
}

}  // namespace
}  // namespace attnprof
