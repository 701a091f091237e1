#include <fmt/format.h>

#include <algorithm>

#include <sstream>

#include "gate/report.hpp"
#include "gate/row_outcome.hpp"

namespace attnprof {
namespace {

// The bytes of a UTF-8 character that starts here; 0 for none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80                      ? 1
                        : byte(0) >= 0xC2 && byte(0) < 0xE0 ? 2
                        : byte(0) >= 0xE0 && byte(0) < 0xF0 ? 3
                        : byte(0) >= 0xF0 && byte(0) < 0xF5 ? 4
                                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xC0) != 0x80) return 0;
  if (length == 3 && ((byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xED && byte(1) >= 0xA0) ||
                      (byte(0) == 0xEF && byte(1) == 0xBF && byte(2) >= 0xBE)))
    return 0;
  if (length == 4 && ((byte(0) == 0xF0 && byte(1) < 0x90) || (byte(0) == 0xF4 && byte(1) >= 0x90))) return 0;
  return length;
}

// What XML 1.0 cannot hold at all becomes '?'.
std::string escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const char c = text.front();
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else if (c == '\n' || c == '\r' || c == '\t')
      result += fmt::format("&#{};", static_cast<int>(c));
    else if (length == 0 || (length == 1 && static_cast<unsigned char>(c) < 0x20))
      result += '?';
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return result;
}

std::string details(const GateResult& result, const RowOutcome& outcome) {
  std::string text;
  for (const Comparison* comparison : outcome.different)
    text += (text.empty() ? "" : "; ") + fmt::format("{}: {}", to_string(comparison->judgement.verdict),
                                                     describe_change(result, *comparison));
  return text;
}

// Neither a failure nor a comparison: a row of one file, or of a case that never worked.
bool is_skipped(const RowOutcome& outcome) {
  return !outcome.failed && (outcome.state == "missing" || !outcome.pair || outcome.pair->compared == 0);
}

std::string test_case(const GateResult& result, const RowOutcome& outcome) {
  const Table& table = outcome.state == "missing" ? *result.baseline : *result.current;
  std::string message = details(result, outcome);
  if (message.empty()) message = outcome.state;
  if (outcome.state == "no longer ok")
    message = table.disposition(outcome.row) + ": " + table.reason(outcome.row);
  std::string text =
      fmt::format("    <testcase classname=\"attnprof.gate\" name=\"{}\"", escaped(table.label(outcome.row)));
  if (outcome.failed)
    text += fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                        escaped(outcome.state), escaped(message));
  else if (is_skipped(outcome))
    text += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", escaped(message));
  else if (outcome.state != "same")
    text += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", escaped(message));
  else
    text += "/>\n";
  return text;
}

void begin_suite(std::ostream& stream, const std::string& counts) {
  stream << fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites {}>\n"
      "  <testsuite name=\"attnprof gate\" {}>\n",
      counts, counts);
}

constexpr std::string_view end_of_suite = "  </testsuite>\n</testsuites>\n";

std::string counts_of(const GateResult& result, const GateOptions& options) {
  size_t count = 0, failures = 0, skipped = 0;
  for_each_row(result, options, [&](const RowOutcome& outcome) {
    ++count;
    failures += outcome.failed;
    skipped += is_skipped(outcome);
  });
  const bool nothing = result.compared == 0;
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", count + nothing, failures,
                     nothing ? 1 : 0, skipped);
}

std::string error_case(std::string_view name, std::string_view message) {
  return fmt::format(
      "    <testcase classname=\"attnprof.gate\" name=\"{}\">\n      <error type=\"{}\" message=\"{}\"/>\n"
      "    </testcase>\n",
      name, name, escaped(message));
}

}  // namespace

// When nothing was compared, which is no pass, it is red for who reads this file alone.
void write_gate_junit(std::ostream& stream, const GateResult& result, const GateOptions& options) {
  begin_suite(stream, counts_of(result, options));
  for_each_row(result, options, [&](const RowOutcome& outcome) { stream << test_case(result, outcome); });
  if (result.compared == 0) stream << error_case("nothing compared", gate_summary(result));
  stream << end_of_suite;
}

std::string gate_error_junit(const Error& error) {
  std::ostringstream stream;
  begin_suite(stream, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\"");
  stream << error_case("no verdict", error.what()) << end_of_suite;
  return stream.str();
}

}  // namespace attnprof
