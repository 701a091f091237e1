#include <fmt/format.h>

#include <algorithm>

#include "base/safe_text.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

constexpr size_t summary_limit = 1 << 20;  // of GitHub's job summary, bytes
constexpr size_t budget = summary_limit * 3 / 4;
constexpr size_t longest_cell = 500;

// On one line, in UTF-8, and nothing in it that a terminal would obey.
std::string one_line(std::string_view text) {
  std::string line = valid_utf8(utf8_prefix(text, longest_cell));
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return printable(line);
}

// A cell that neither ends the table nor is taken for HTML or a mention.
std::string markdown_escaped(std::string_view text) {
  std::string result;
  for (const char c : one_line(text)) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '@':
        result += "&#64;";
        break;
      case '|':
      case '\\':
      case '`':
      case '*':
      case '_':
      case '[':
      case ']':
        result += '\\';
        [[fallthrough]];
      default:
        result += c;
    }
  }
  return text.size() > longest_cell ? result + " ..." : result;
}

std::string title(const GateResult& result) {
  return result.compared == 0 ? "nothing compared" : result.failed ? "failed" : "passed";
}

}  // namespace

std::string gate_markdown(const GateResult& result) {
  std::string text =
      fmt::format("### attnprof gate: {}\n\n{}\n", title(result), markdown_escaped(gate_summary(result)));
  for (size_t i = 0; i < result.warnings.size() && i < 20; ++i)
    text += fmt::format("\n> warning: {}\n", markdown_escaped(result.warnings[i]));
  if (const std::string kernels = kernels_sentence(result); !kernels.empty())
    text += fmt::format("\n{}\n", markdown_escaped(kernels));
  const std::vector<GateLine> lines = gate_lines(result, 10'000);
  if (lines.empty()) return text;
  text += "\n| verdict | what | row |\n| --- | --- | --- |\n";
  size_t shown = 0;
  for (; shown < lines.size() && text.size() < budget; ++shown)
    text += fmt::format("| {} | {} | {} |\n", lines[shown].verdict, markdown_escaped(lines[shown].what),
                        markdown_escaped(lines[shown].row));
  if (const size_t all = gate_line_count(result); all > shown)
    text += fmt::format("\n... and {} more\n", all - shown);
  return text;
}

std::string gate_error_markdown(const Error& error) {
  return fmt::format("### attnprof gate: no verdict\n\n{}\n", markdown_escaped(error.what()));
}

}  // namespace attnprof
