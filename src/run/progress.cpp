#include "run/progress.hpp"

#include <fmt/format.h>

#include "base/safe_text.hpp"
#include "base/standard_streams.hpp"
#include "base/text_table.hpp"

namespace attnprof {
namespace {

constexpr const char* clear_line = "\r\x1b[K";

}  // namespace

Progress::Progress(std::FILE* stream, bool terminal, size_t done)
    : stream_(stream), terminal_(terminal), done_(done) {}

// A stream that is closed or full must not end a sweep.
void Progress::write(const std::string& text) {
  std::fputs(text.c_str(), stream_);
  std::fflush(stream_);
}

void Progress::finish() {
  if (terminal_ && !last_.empty()) write(clear_line);
}

std::string Progress::estimate(size_t index, size_t total) const {
  if (!terminal_ || index == 0) return "";
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begin_;
  const double left = spent.count() / static_cast<double>(index) * static_cast<double>(total - index);
  return left < 60 ? fmt::format(", about {:.0f} s left", left)
                   : fmt::format(", about {:.0f} min left", left / 60);
}

void Progress::begin_case(const Case& c, size_t index, size_t total) {
  if (is_quiet()) return;
  last_ = fmt::format("[{}/{}] {}{}", done_ + index + 1, done_ + total, printable(describe(c)),
                      estimate(index, total));
  if (terminal_) last_ = utf8_prefix(last_, terminal_width(fileno(stream_)) - 1);
  write(fmt::format("{}{}{}", terminal_ ? clear_line : "", last_, terminal_ ? "" : "\n"));
}

void Progress::end_case(const Row& row) {
  if (row.status.disposition != "incorrect" && row.status.disposition != "failed") return;
  write(fmt::format("{}{}: {}\n", terminal_ ? fmt::format("{}{}\n", clear_line, last_) : "  ",
                    row.status.disposition, printable(row.status.reason)));
}

}  // namespace attnprof
