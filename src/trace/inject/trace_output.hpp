// The file that this process writes: one JSON line a record, each in one system call.
#pragma once

#include <string>

#include "trace/launch_record.hpp"

namespace attnprof {

class TraceOutput {
 public:
  // A new file in `folder`; where it cannot be made, nothing is written and nothing is said.
  explicit TraceOutput(const std::string& folder);
  TraceOutput(const TraceOutput&) = delete;
  TraceOutput& operator=(const TraceOutput&) = delete;

  void write(const TraceLine& line) const;
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_ = -1;  // never closed: a program may launch until its last moment
};

}  // namespace attnprof
