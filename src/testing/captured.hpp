// What is printed, as the tests read it.
#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace attnprof {

struct Printed {
  std::string out, err;
};

// Captures stdout and stderr, and what it has captured is `printed` when it ends.
class Capture {
 public:
  explicit Capture(Printed& printed) : printed_(printed) {
    if (is_open()) throw std::logic_error("what is printed is captured already");
    is_open() = true;
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
  }
  ~Capture() {
    printed_ = {testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
    is_open() = false;
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  static bool& is_open() {
    static bool open = false;
    return open;
  }
  Printed& printed_;
};

// What `program` prints, after which nothing is captured, however it ends. Tests capture by this alone, which
// scripts/ci/check_includes.py sees to: where a capture of Google Test's is left open, the next one in the
// process aborts it without a word, since its sentence goes into the first; and what fails meanwhile is not
// shown.
template <typename Program>
Printed printed_by(const Program& program) {
  Printed printed;
  {
    const Capture capture(printed);
    program();
  }
  return printed;
}

}  // namespace attnprof
