#include "cli/flags/values.hpp"

#include <charconv>

namespace attnprof {

int64_t whole_number(std::string_view option, std::string_view text, int64_t largest) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest)
    throw UsageError(fmt::format("{} '{}': give a whole number from 0 to {}", option, text, largest));
  return value;
}

int device_number(const std::string& text) { return static_cast<int>(whole_number("--device", text, 1023)); }

void refuse_both(bool both, const char* a, const char* b) {
  if (both) throw UsageError(fmt::format("{} and {} contradict each other; give one of them", a, b));
}

}  // namespace attnprof
