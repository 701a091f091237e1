// SIGINT while a sweep runs.
#pragma once

#include <csignal>

#include <atomic>

namespace attnprof {

// Until destroyed: the first SIGINT sets stop(), so that the case in hand is the last; a second one ends the
// program at once (base/signal_end.hpp), with every finished row in the file.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  const std::atomic<bool>& stop() const;

 private:
  struct sigaction previous_ {};
};

}  // namespace attnprof
