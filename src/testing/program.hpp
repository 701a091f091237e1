// For tests: the program itself, started and waited for.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "test_paths.hpp"
#include "testing/temporary_file.hpp"

namespace attnprof {

using Args = std::vector<std::string>;

// A running attnprof with both streams in one file.
class Program {
 public:
  // `before_exec`: what the child does to itself first, such as setting limits.
  Program(Args args, const std::string& output, const Args& environment = {},
          const std::function<void()>& before_exec = {})
      : output_(output) {
    args.insert(args.begin(), ATTNPROF_BINARY);
    pid_ = fork();
    if (pid_ != 0) return;
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    std::vector<char*> arguments;
    for (std::string& arg : args) arguments.push_back(arg.data());
    arguments.push_back(nullptr);
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    if (before_exec) before_exec();
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  pid_t pid() const { return pid_; }
  void signal(int number) const { kill(pid_, number); }
  // The exit code, or minus the signal that ended it.
  int wait() {
    int status = 0;
    wait4(pid_, &status, 0, &usage_);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string output() const { return text_of(output_); }
  // After wait().
  double peak_bytes() const { return 1024.0 * static_cast<double>(usage_.ru_maxrss); }
  double cpu_seconds() const {
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage_.ru_utime) + seconds(usage_.ru_stime);
  }

 private:
  std::string output_;
  pid_t pid_;
  rusage usage_{};
};

}  // namespace attnprof
