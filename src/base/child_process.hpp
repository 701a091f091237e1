// A child process with pipes, started without a shell.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace attnprof {

// The file descriptor a child writes its answers to. Not stdout: libraries print there.
inline constexpr int reply_fd = 3;

// Runs `command` with requests on its stdin, answers on reply_fd, and stdout and stderr together in a log. It
// is in a process group of its own, so that Ctrl-C in a terminal does not reach it.
class ChildProcess {
 public:
  // Throws EnvironmentError when the program cannot be started.
  explicit ChildProcess(const std::vector<std::string>& command);
  ~ChildProcess();  // closes its stdin, waits a moment for it to end, kills it otherwise
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  using Clock = std::chrono::steady_clock;
  enum class Read { line, ended, timed_out };

  // False when the child no longer reads.
  bool write_line(const std::string& text);
  // The next answer. `ended`: the child closed its end, which a dead one has.
  Read read_line(std::string& line, Clock::time_point deadline);

  // Log lines since the last call.
  std::vector<std::string> take_log();

  // Kills it and every process of its group, and waits for it.
  void kill();
  // How it ended, for people: "died from signal 11 (Segmentation fault)", "exited with code 3". Waits for it.
  std::string describe_end();

 private:
  void close_input();
  void read_log();
  bool wait_for(std::chrono::milliseconds limit);

  pid_t pid_ = -1;
  int input_ = -1, replies_ = -1, log_ = -1;
  std::string reply_text_, log_text_;
  std::vector<std::string> log_lines_;
  std::optional<int> wait_status_;
};

}  // namespace attnprof
