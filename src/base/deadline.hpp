// A limit of the processor time that work may take, for loops that look at it now and then. Not of the time
// on the wall: a busy machine must not change what comes out.
#pragma once

#include <ctime>

namespace attnprof {

struct OutOfTime {};

class Deadline {
 public:
  explicit Deadline(double seconds) : end_s_(process_s() + seconds) {}

  // Throws OutOfTime once it has passed.
  void check() const {
    if (process_s() > end_s_) throw OutOfTime{};
  }

 private:
  static double process_s() {
    timespec now{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
  }

  double end_s_;
};

}  // namespace attnprof
