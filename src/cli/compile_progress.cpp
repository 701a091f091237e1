#include "cli/compile_progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/standard_streams.hpp"

namespace attnprof {

std::vector<KernelReport> compile_watched(const std::vector<Case>& cases, const std::string& arch,
                                          KernelCompiler& compiler, int jobs) {
  const std::string clear_line = isatty(STDERR_FILENO) && !is_quiet() ? "\r\x1b[K" : "";
  const auto reports = compile_plan(cases, {arch}, compiler, jobs, [&](size_t done, size_t total) {
    if (!clear_line.empty() && done < total)
      std::fputs(fmt::format("{}[{}/{}] for {}", clear_line, done, total, arch).c_str(), stderr);
  });
  std::fputs(clear_line.c_str(), stderr);
  say(compiled_sentence(reports, arch));
  return reports;
}

}  // namespace attnprof
