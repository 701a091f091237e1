// Progress on stderr: every case is named before it runs, so that one that hangs is known.
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

#include "run/pipeline.hpp"

namespace attnprof {

class Progress : public SweepObserver {
 public:
  // On a terminal one line is rewritten, with an estimate of the time left; else every case is a line.
  // `done`: cases that an earlier run finished already.
  Progress(std::FILE* stream, bool terminal, size_t done = 0);
  void begin_case(const Case& c, size_t index, size_t total) override;
  void end_case(const Row& row) override;
  void finish() override;  // clears the line on the terminal

 private:
  void write(const std::string& text);
  std::string estimate(size_t index, size_t total) const;

  std::FILE* stream_;
  bool terminal_;
  size_t done_;
  std::string last_;  // the line on the terminal
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace attnprof
