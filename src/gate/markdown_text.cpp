#include "gate/markdown_text.hpp"

#include <algorithm>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

constexpr size_t longest_text = 500;

// On one line, in UTF-8, and nothing in it that a terminal would obey.
std::string one_line(std::string_view text) {
  std::string line = valid_utf8(utf8_prefix(text, longest_text));
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return printable(line);
}

std::string_view entity_of(char c) {
  switch (c) {
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '&':
      return "&amp;";
    case '@':
      return "&#64;";
    default:
      return "";
  }
}

}  // namespace

std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : one_line(text)) {
    const std::string_view entity = entity_of(c);
    if (std::string_view("|\\`*_[]~").find(c) != std::string_view::npos) result += '\\';
    result += entity.empty() ? std::string_view(&c, 1) : entity;
  }
  return text.size() > longest_text ? result + " ..." : result;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += " " + cell + " |";
  return line + "\n";
}

}  // namespace attnprof
