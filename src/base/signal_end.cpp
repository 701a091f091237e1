#include "base/signal_end.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>

#include "base/unfinished.hpp"

namespace attnprof {
namespace {

struct Named {
  int number;
  std::string_view name;
};
constexpr std::array ending_signals = {Named{SIGINT, "SIGINT (Ctrl-C)"}, Named{SIGTERM, "SIGTERM"},
                                       Named{SIGHUP, "SIGHUP"}, Named{SIGQUIT, "SIGQUIT (Ctrl-\\)"},
                                       Named{SIGUSR1, "SIGUSR1"}};

// A handler may do next to nothing, so it wakes a thread that may do everything.
std::atomic<int> wake_fd = -1;
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler reads it");

std::atomic<bool> silent = false;

std::mutex note_mutex;
std::string* note = nullptr;  // never destroyed, as the thread may outlive what is

std::string_view name_of(int number) {
  return std::ranges::find(ending_signals, number, &Named::number)->name;
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

// With all signals blocked: they are for the threads that expect them. False where no thread can be had.
bool start_thread(int read_fd) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    std::thread(wait_and_end, read_fd).detach();
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void catch_signal(int number) {
  struct sigaction action {
  }, before{};
  sigaction(number, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

}  // namespace

void end_well_on_signals() {
  signal(SIGXFSZ, SIG_IGN);
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;  // the signals' default is what is left
  // Above the numbers that a worker's pipes have.
  const int read_fd = fcntl(ends[0], F_DUPFD_CLOEXEC, 10), write_fd = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  for (const int end : ends) close(end);
  if (!start_thread(read_fd)) {
    for (const int end : {read_fd, write_fd}) close(end);
    return;
  }
  wake_fd = write_fd;
  for (const Named& signal : ending_signals) catch_signal(signal.number);
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
