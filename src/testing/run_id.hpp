// Run ids differ from run to run; a test that compares whole files takes them out.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace attnprof {

inline bool is_run_id(std::string_view text) {
  constexpr std::string_view shape = "ddddddddTddddddZ-xxxxxxxx";  // d: digit, x: hexadecimal
  if (text.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (shape[i] == 'd' ? !std::isdigit(c) : shape[i] == 'x' ? !std::isxdigit(c) : text[i] != shape[i])
      return false;
  }
  return true;
}

// `text` with RUN in place of every run id.
inline std::string without_run(std::string_view text) {
  constexpr size_t size = 25;
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const bool id = is_run_id(text.substr(i, size));
    result += id ? "RUN" : std::string(1, text[i]);
    i += id ? size : 1;
  }
  return result;
}

}  // namespace attnprof
