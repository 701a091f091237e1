#include "base/fitted_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>

#include "base/safe_text.hpp"
#include "base/text_table.hpp"

namespace attnprof {
namespace {

using Cells = std::vector<std::string>;
using Widths = std::vector<size_t>;

size_t indent_of(const std::string& text) { return std::min(text.find_first_not_of(' '), text.size()); }

// With the spaces that the cell begins with.
size_t longest_word(const std::string& text) {
  std::istringstream words(text);
  size_t longest = 0;
  for (std::string word; words >> word;) longest = std::max(longest, word.size());
  return indent_of(text) + longest;
}

// Of each column the largest that `measure` gives of a cell; `title`: of its title.
template <class Measure, class OfTitle>
Widths widths_by(const std::vector<Cells>& lines, Measure measure, OfTitle title) {
  Widths widths;
  for (const Cells& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], &line == &lines.front() ? title(line[i]) : measure(line[i]));
  }
  return widths;
}

size_t total(const Widths& widths, size_t gap) {
  return std::accumulate(widths.begin(), widths.end(), size_t{0}) + gap * (widths.size() - 1);
}

// Takes from the widest that may still be narrower until all fit, or none may.
Widths narrowed(Widths widths, const Widths& least, size_t gap, size_t width) {
  while (total(widths, gap) > width) {
    size_t widest = widths.size();
    for (size_t i = 0; i < widths.size(); ++i)
      if (widths[i] > least[i] && (widest == widths.size() || widths[i] > widths[widest])) widest = i;
    if (widest == widths.size()) break;
    --widths[widest];
  }
  return widths;
}

struct Fit {
  Widths widths;
  size_t gap;
};

// What is short, such as a number with its unit, is broken last.
size_t soft_least(const std::string& text) { return text.size() <= 12 ? text.size() : longest_word(text); }

Fit fit(const std::vector<Cells>& lines, size_t width) {
  const auto whole = [](const std::string& text) { return text.size(); };
  const Widths natural = widths_by(lines, whole, whole),
               broken_titles = widths_by(lines, whole, longest_word);
  for (const size_t gap : {2, 1})
    for (const Widths& widths : {natural, broken_titles})
      if (total(widths, gap) <= width) return {widths, gap};
  const Widths soft = widths_by(lines, soft_least, longest_word);
  for (const size_t gap : {2, 1})
    if (const Widths widths = narrowed(broken_titles, soft, gap, width); total(widths, gap) <= width)
      return {widths, gap};
  return {narrowed(broken_titles, widths_by(lines, longest_word, longest_word), 1, width), 1};
}

// The lines of a cell; the spaces that it begins with stand before each.
Cells broken(const std::string& text, size_t width) {
  if (text.size() <= width) return {text};
  const std::string indent(indent_of(text), ' ');
  std::istringstream lines(wrap_words(text, width, indent));
  Cells parts;
  for (std::string line; std::getline(lines, line);) parts.push_back(line);
  return parts;
}

std::string line_text(const Cells& line, const Fit& fitting, size_t width) {
  std::vector<Cells> cells;
  size_t height = 1;
  for (size_t i = 0; i < line.size(); ++i) {
    cells.push_back(broken(line[i], fitting.widths[i]));
    height = std::max(height, cells.back().size());
  }
  std::string result;
  for (size_t part = 0; part < height; ++part) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i)
      text += fmt::format("{:<{}}{}", part < cells[i].size() ? cells[i][part] : "", fitting.widths[i],
                          std::string(i + 1 < cells.size() ? fitting.gap : 0, ' '));
    text.resize(text.find_last_not_of(' ') + 1);
    result += std::string(utf8_prefix(text, width)) + "\n";
  }
  return result;
}

}  // namespace

std::string fitted_table(std::vector<std::vector<std::string>> lines, size_t width) {
  if (lines.empty()) return "";
  for (Cells& line : lines)
    for (std::string& text : line) text = printable(text);
  const Fit fitting = fit(lines, width);
  std::string result;
  for (const Cells& line : lines) result += line_text(line, fitting, width);
  return result;
}

}  // namespace attnprof
