#include "base/text_table.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/safe_text.hpp"

namespace attnprof {
namespace {

constexpr size_t default_width = 120, widest = 10'000;

std::string cut(const std::string& text, size_t width) {
  return text.size() <= width ? text : std::string(utf8_prefix(text, width < 3 ? 0 : width - 3)) + "...";
}

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell_text : cells) line += " " + escaped(printable(cell_text)) + " |";
  return line + "\n";
}

}  // namespace

std::string wrap_text(const std::string& text, size_t width, const std::string& indent) {
  return wrap_words(printable(text), width, indent);
}

std::string wrap_words(const std::string& text, size_t width, const std::string& indent) {
  std::istringstream words(text);
  std::string result, line;
  for (std::string word; words >> word;) {
    if (!line.empty() && indent.size() + line.size() + 1 + word.size() > width) {
      result += indent + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return line.empty() ? result : result + indent + line + "\n";
}

std::string format_text_table(std::vector<std::vector<std::string>> lines, size_t width) {
  for (auto& line : lines)
    for (std::string& text : line) text = printable(text);
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string result;
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i)
      text += i + 1 == line.size() ? line[i] : fmt::format("{:<{}}  ", line[i], widths[i]);
    result += cut(text.substr(0, text.find_last_not_of(' ') + 1), width) + "\n";
  }
  return result;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& lines) {
  if (lines.empty()) return "";
  std::string table = markdown_line(lines.front());
  table += markdown_line(std::vector<std::string>(lines.front().size(), "---"));
  for (size_t i = 1; i < lines.size(); ++i) table += markdown_line(lines[i]);
  return table;
}

size_t terminal_width(int fd) {
  if (const char* text = std::getenv("COLUMNS")) {
    const std::string_view columns(text);
    size_t width = 0;
    const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), width);
    if (error == std::errc::result_out_of_range) return widest;
    if (error == std::errc{} && end == columns.data() + columns.size() && width > 0)
      return std::min(width, widest);
  }
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return default_width;
}

}  // namespace attnprof
