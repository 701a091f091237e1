#include "base/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <thread>
#include <utility>

#include "base/error.hpp"
#include "base/unfinished.hpp"

extern char** environ;

namespace attnprof {
namespace {

using std::chrono::milliseconds;

struct Pipe {
  int read = -1, write = -1;
};

// Ends are closed on exec: no other program that is started meanwhile may keep a pipe open.
Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("cannot make a pipe: {}", strerror(errno)));
  // Above the descriptors that the child's own are copied to, so that copying overwrites none.
  Pipe pipe;
  pipe.read = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
  pipe.write = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  close(ends[0]);
  close(ends[1]);
  return pipe;
}

void close_fd(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

pid_t spawn(const std::vector<std::string>& command, int input, int replies, int log) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
  posix_spawn_file_actions_adddup2(&actions, replies, reply_fd);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults;  // what we may ignore ends it all the same
  sigemptyset(&defaults);
  for (int ending : {SIGINT, SIGTERM, SIGHUP, SIGXFSZ}) sigaddset(&defaults, ending);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, argv[0], &actions, &attributes, argv.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0)
    throw EnvironmentError(fmt::format("cannot start {}: {}", command.front(), strerror(error)));
  return pid;
}

// Takes the text up to the first newline out of `text`; false when there is none.
bool take_line(std::string& text, std::string& line) {
  const size_t end = text.find('\n');
  if (end == std::string::npos) return false;
  line = text.substr(0, end);
  text.erase(0, end + 1);
  return true;
}

// Appends what can be read at once; false at the end of the stream.
bool read_some(int fd, std::string& text) {
  std::array<char, 65536> buffer;
  const ssize_t length = read(fd, buffer.data(), buffer.size());
  if (length > 0) text.append(buffer.data(), static_cast<size_t>(length));
  return length > 0 || (length < 0 && (errno == EINTR || errno == EAGAIN));
}

int remaining_ms(ChildProcess::Clock::time_point deadline) {
  const auto left = std::chrono::ceil<milliseconds>(deadline - ChildProcess::Clock::now()).count();
  return static_cast<int>(std::clamp<int64_t>(left, 0, 3'600'000));
}

}  // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& command) {
  static const auto ignore_broken_pipes = signal(SIGPIPE, SIG_IGN);  // a dead child is an error value instead
  (void)ignore_broken_pipes;
  Pipe input = make_pipe(), replies = make_pipe(), log = make_pipe();
  const auto close_child_ends = [&] {
    close_fd(input.read);
    close_fd(replies.write);
    close_fd(log.write);
  };
  input_ = input.write;
  replies_ = replies.read;
  log_ = log.read;
  fcntl(log_, F_SETFL, O_NONBLOCK);
  try {
    // A worker ends the compiler that it has started.
    pid_ =
        start_group([&] { return spawn(command, input.read, replies.write, log.write); }, Ending::by_itself);
  } catch (...) {
    close_child_ends();
    for (int* fd : {&input_, &replies_, &log_}) close_fd(*fd);
    throw;
  }
  close_child_ends();
}

ChildProcess::~ChildProcess() {
  close_input();
  if (!wait_for(milliseconds(2000))) kill();
  for (int* fd : {&replies_, &log_}) close_fd(*fd);
}

void ChildProcess::close_input() { close_fd(input_); }

bool ChildProcess::write_line(const std::string& text) {
  const std::string line = text + '\n';
  for (size_t done = 0; done < line.size();) {
    const ssize_t length = write(input_, line.data() + done, line.size() - done);
    if (length < 0 && errno != EINTR) return false;
    if (length > 0) done += static_cast<size_t>(length);
  }
  return true;
}

ChildProcess::Read ChildProcess::read_line(std::string& line, Clock::time_point deadline) {
  while (!take_line(reply_text_, line)) {
    std::array<pollfd, 2> waits = {{{replies_, POLLIN, 0}, {log_, POLLIN, 0}}};
    const int ready = poll(waits.data(), log_ >= 0 ? 2 : 1, remaining_ms(deadline));
    if (ready == 0 && Clock::now() >= deadline) return Read::timed_out;
    if (ready <= 0) continue;  // a signal: SIGINT is for after the case in hand
    if (log_ >= 0 && waits[1].revents) read_log();
    if (waits[0].revents && !read_some(replies_, reply_text_)) {
      read_log();
      return Read::ended;
    }
  }
  return Read::line;
}

void ChildProcess::read_log() {
  std::array<char, 4096> buffer;
  ssize_t length = 0;
  while (log_ >= 0 && (length = read(log_, buffer.data(), buffer.size())) > 0)
    log_text_.append(buffer.data(), static_cast<size_t>(length));
  if (length == 0) close_fd(log_);
  for (std::string line; take_line(log_text_, line);)
    if (!line.empty()) log_lines_.push_back(line);
  if (log_ < 0 && !log_text_.empty()) log_lines_.push_back(std::exchange(log_text_, ""));
}

std::vector<std::string> ChildProcess::take_log() {
  read_log();
  return std::exchange(log_lines_, {});
}

// True once it has ended. A killed process may take a while: the driver tears its work down first.
bool ChildProcess::wait_for(milliseconds limit) {
  const Clock::time_point deadline = Clock::now() + limit;
  while (!wait_status_) {
    wait_status_ = reap_group(pid_);
    if (wait_status_ || Clock::now() >= deadline) break;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return wait_status_.has_value();
}

void ChildProcess::kill() {
  if (!wait_status_) wait_status_ = kill_group(pid_, Ending::by_itself);
}

std::string ChildProcess::describe_end() {
  if (!wait_for(milliseconds(1000))) kill();
  if (!wait_status_) return "could not be ended";
  if (WIFSIGNALED(*wait_status_))
    return fmt::format("died from signal {} ({})", WTERMSIG(*wait_status_),
                       strsignal(WTERMSIG(*wait_status_)));
  return fmt::format("exited with code {}", WEXITSTATUS(*wait_status_));
}

}  // namespace attnprof
