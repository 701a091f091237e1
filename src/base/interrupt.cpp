#include "base/interrupt.hpp"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "base/signal_end.hpp"

namespace attnprof {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

void on_interrupt(int number) {
  constexpr std::string_view text = "\ninterrupted: finishing the case in hand; Ctrl-C again ends at once\n";
  if (interrupted.exchange(true)) return end_by_signal(number);
  const int before = errno;
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
  errno = before;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = false;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, &previous_);
}

InterruptGuard::~InterruptGuard() { sigaction(SIGINT, &previous_, nullptr); }

const std::atomic<bool>& InterruptGuard::stop() const { return interrupted; }

}  // namespace attnprof
