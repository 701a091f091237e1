// For tests: the program on a terminal of its own.
#pragma once

#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "test_paths.hpp"

namespace attnprof {

// Run to its end, with both streams and its input on the terminal. A line ends in "\r\n" there.
class OnTerminal {
 public:
  // TERM is xterm and NO_COLOR unset where `environment` ("NAME=value") does not say otherwise.
  explicit OnTerminal(std::vector<std::string> args, const std::vector<std::string>& environment = {}) {
    args.insert(args.begin(), ATTNPROF_BINARY);
    int terminal = -1;
    const pid_t pid = forkpty(&terminal, nullptr, nullptr, nullptr);
    if (pid == 0) run(args, environment);
    std::array<char, 4096> buffer{};
    for (ssize_t size = 0; (size = read(terminal, buffer.data(), buffer.size())) > 0;)
      output_.append(buffer.data(), static_cast<size_t>(size));
    int status = 0;
    waitpid(pid, &status, 0);
    close(terminal);
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  int code() const { return code_; }
  const std::string& output() const { return output_; }

 private:
  [[noreturn]] static void run(std::vector<std::string>& args, const std::vector<std::string>& environment) {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    for (const std::string& variable : environment) putenv(const_cast<char*>(variable.c_str()));
    std::vector<char*> arguments;
    for (std::string& arg : args) arguments.push_back(arg.data());
    arguments.push_back(nullptr);
    execv(arguments[0], arguments.data());
    _exit(127);
  }

  std::string output_;
  int code_ = -1;
};

}  // namespace attnprof
