#include "trace/inject/trace_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

namespace attnprof {

// The name begins with the time, so that files are read in the order of their processes.
TraceOutput::TraceOutput(const std::string& folder) {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  const std::string path = fmt::format("{}/{:020}-{}.jsonl", folder, now, getpid());
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) return;
  // A program that started with a stream closed must not find our file under its number.
  fd_ = fcntl(fd, F_DUPFD_CLOEXEC, 100);
  close(fd);
}

void TraceOutput::write(const TraceLine& line) const {
  if (fd_ < 0) return;
  const std::string text = to_line(line);
  [[maybe_unused]] const ssize_t written = ::write(fd_, text.data(), text.size());
}

}  // namespace attnprof
