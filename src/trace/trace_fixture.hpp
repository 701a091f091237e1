// `attnprof trace` run as a program, on the fake driver.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "report/csv.hpp"
#include "test_paths.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {

using Words = std::vector<std::string>;

class TraceProgram : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_symlink(ATTNPROF_FAKE_CUDA, folder_ / "libcuda.so.1"); }

  // `attnprof WORDS`; its streams go to one file.
  pid_t start(const Words& words, const Words& environment = {}) const {
    Words all = {ATTNPROF_BINARY};
    all.insert(all.end(), words.begin(), words.end());
    write_text(said_file(), "");
    const pid_t pid = fork();
    if (pid != 0) return pid;
    const int file = open(said_file().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    setenv("LD_LIBRARY_PATH", (folder_ / "").c_str(), 1);
    setenv("ATTNPROF_CUPTI", ATTNPROF_FAKE_CUDA, 1);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> arguments;
    for (std::string& word : all) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  static int end_of(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int run(const Words& words, const Words& environment = {}) const {
    return end_of(start(words, environment));
  }

  // `attnprof trace OPTIONS -o FILE -- COMMAND`.
  Words trace_of(const Words& options, const Words& command) const {
    Words words = {"trace"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"-o", csv(), "--"});
    words.insert(words.end(), command.begin(), command.end());
    return words;
  }
  int trace(const Words& options, const Words& command, const Words& environment = {}) const {
    return run(trace_of(options, command), environment);
  }
  // The fake target with these acts.
  int trace_target(const Words& options, Words acts, const Words& environment = {}) const {
    acts.insert(acts.begin(), {ATTNPROF_FAKE_TARGET, "init"});
    return trace(options, acts, environment);
  }

  std::string csv() const { return folder_ / "out.csv"; }
  std::string said_file() const { return folder_ / "said.txt"; }
  std::string said() const { return text_of(said_file()); }
  std::vector<Row> rows() const { return read_rows(csv()).rows; }
  bool has_file() const { return std::filesystem::exists(csv()); }

  TemporaryFolder folder_;
};

}  // namespace attnprof
