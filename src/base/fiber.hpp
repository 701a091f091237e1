// A function that is run a stretch at a time, on a stack of its own: what hands its results to a callback
// becomes a stream, of which nobody has to hold the whole.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

namespace attnprof {

class Fiber {
 public:
  // Throws std::bad_alloc where there is no memory for a stack. Only pages that are touched count.
  explicit Fiber(size_t stack_bytes);
  ~Fiber();  // a body that has not ended is unwound
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs `body` until it pauses or ends; the body before it has ended. True: it has paused. What a body
  // throws is thrown on.
  bool start(std::function<void()> body);
  // Goes on where the body has paused; true: it has paused again.
  bool resume();
  // Called by the body: start() or resume() returns.
  void pause();

 private:
  struct State;
  static void enter(unsigned high, unsigned low);
  void run_body();
  bool switch_in();

  std::unique_ptr<State> state_;
};

}  // namespace attnprof
