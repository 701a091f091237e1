#include "base/signal_end.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>
#include <thread>

#include "base/unfinished.hpp"

namespace attnprof {
namespace {

constexpr std::array ending_signals = {SIGINT, SIGTERM, SIGHUP};

// A handler may do next to nothing, so it wakes a thread that may do everything.
std::atomic<int> wake_fd = -1;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

std::atomic<bool> silent = false;

std::mutex note_mutex;
std::string* note = nullptr;  // never destroyed, as the thread may outlive what is

std::string_view name_of(int number) {
  switch (number) {
    case SIGINT:
      return "SIGINT (Ctrl-C)";
    case SIGTERM:
      return "SIGTERM";
    default:
      return "SIGHUP";
  }
}

void on_signal(int number) {
  const int before = errno;
  end_by_signal(number);
  errno = before;
}

void say_the_end(int number) {
  if (silent) return;
  std::string kept;
  {
    const std::lock_guard lock(note_mutex);
    if (note) kept = *note;
  }
  const std::string sentence =
      fmt::format("{}attnprof: ended by {}, with all that it had started{}{}\n",
                  isatty(STDERR_FILENO) ? "\r\x1b[K" : "", name_of(number), kept.empty() ? "" : "; ", kept);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, sentence.data(), sentence.size());
}

// The first signal; those that come while it is being obeyed change nothing.
void wait_and_end(int read_fd) {
  unsigned char number = 0;
  while (read(read_fd, &number, 1) != 1) {
  }
  end_all_unfinished();
  say_the_end(number);
  _exit(128 + number);
}

// With all signals blocked: they are for the threads that expect them.
void start_thread(int read_fd) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread(wait_and_end, read_fd).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace

void end_well_on_signals() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;  // the signals' default is what is left
  // Above the numbers that a worker's pipes have.
  const int read_fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
  wake_fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  for (const int end : ends) close(end);
  start_thread(read_fd);
  for (const int number : ending_signals) {
    struct sigaction action {
    }, before{};
    sigaction(number, nullptr, &before);
    if (before.sa_handler == SIG_IGN) continue;
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

void end_by_signal(int number) {
  const auto byte = static_cast<unsigned char>(number);
  if (wake_fd >= 0 && write(wake_fd, &byte, 1) == 1) return;
  signal(number, SIG_DFL);
  raise(number);
}

void end_silently() { silent = true; }

EndNote::EndNote(const std::string& text) {
  const std::lock_guard lock(note_mutex);
  if (!note) note = new std::string;
  *note = text;
}

EndNote::~EndNote() {
  const std::lock_guard lock(note_mutex);
  note->clear();
}

}  // namespace attnprof
