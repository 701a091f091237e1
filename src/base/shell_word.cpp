#include "base/shell_word.hpp"

#include <algorithm>
#include <cctype>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

bool is_plain(unsigned char c) {
  return std::isalnum(c) ||
         std::string_view("_-./+,:%@").find(static_cast<char>(c)) != std::string_view::npos;
}

std::string replaced(std::string_view text, std::string_view escaped, std::string_view before) {
  std::string result;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) result += before;
    result += c;
  }
  return result;
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  if (printable(text) != text) return "$'" + printable(replaced(text, "\\'", "\\")) + "'";
  return "'" + replaced(text, "'", "'\\'") + "'";
}

std::string shell_file(std::string_view path) {
  return shell_word(path.starts_with('-') ? "./" + std::string(path) : std::string(path));
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace attnprof
