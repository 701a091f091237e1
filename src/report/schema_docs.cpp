#include "report/schema_docs.hpp"

#include <fmt/format.h>

#include "roofline/schema.hpp"

namespace attnprof {
namespace {

std::string escaped(const std::string& text) {
  std::string result;
  for (char c : text) result += c == '|' ? "\\|" : std::string(1, c);
  return result;
}

std::string markdown_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell_text : cells) line += " " + escaped(cell_text) + " |";
  return line + "\n";
}

}  // namespace

std::vector<std::vector<std::string>> schema_lines() {
  std::vector<std::vector<std::string>> lines = {{"column", "group", "meaning"}};
  for (const Column& column : schema())
    lines.push_back(
        {std::string(column.name), std::string(to_string(column.group)), std::string(column.description)});
  return lines;
}

std::string markdown_table(const std::vector<std::vector<std::string>>& lines) {
  if (lines.empty()) return "";
  std::string table = markdown_line(lines.front());
  table += markdown_line(std::vector<std::string>(lines.front().size(), "---"));
  for (size_t i = 1; i < lines.size(); ++i) table += markdown_line(lines[i]);
  return table;
}

}  // namespace attnprof
