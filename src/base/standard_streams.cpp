#include "base/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

bool quiet = false;

}  // namespace

void fill_closed_streams() {
  for (int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(fd, F_GETFD) < 0) open("/dev/null", O_RDWR);  // takes the lowest number that is free, `fd`
}

void ignore_broken_pipes() { std::signal(SIGPIPE, SIG_IGN); }

bool standard_output_arrived() {
  std::cout.flush();
  return std::fflush(stdout) == 0 && !std::ferror(stdout) && std::cout.good();
}

void print(std::string_view text) {
  const std::string safe = isatty(STDOUT_FILENO) ? terminal_text(text) : std::string(text);
  std::fwrite(safe.data(), 1, safe.size(), stdout);
}

void say(const std::string& line) {
  if (!quiet) warn(line);
}

void warn(const std::string& line) {
  std::fputs((printable(line) + "\n").c_str(), stderr);
  std::fflush(stderr);
}

void be_quiet(bool is) { quiet = is; }

bool is_quiet() { return quiet; }

}  // namespace attnprof
