#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "base/safe_text.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/report.hpp"
#include "gate/row_outcome.hpp"

namespace attnprof {
namespace {

// The length of a character that XML 1.0 can hold, at the start; 0: there is none.
size_t xml_length(std::string_view text) {
  const size_t length = utf8_length(text);
  const std::string_view character = text.substr(0, length);
  const bool control = length == 1 && static_cast<unsigned char>(text.front()) < 0x20;
  return control || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf" ? 0 : length;
}

// What XML 1.0 cannot hold at all becomes U+FFFD.
std::string xml_escaped(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = xml_length(text);
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
    else if (length == 0)
      result += valid_utf8("\xff");
    else
      result += text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length > 0 ? length : utf8_length(text), 1));
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
  return !outcome.failed &&
         (outcome.state == RowState::missing || !outcome.pair || outcome.pair->compared == 0);
}

std::string test_case(const GateResult& result, const RowOutcome& outcome) {
  const Table& table = outcome.state == RowState::missing ? *result.baseline : *result.current;
  std::string message = details(result, outcome);
  if (message.empty()) message = to_string(outcome.state);
  if (outcome.state == RowState::not_ok) message = disposition_and_reason(table, outcome.row);
  if (outcome.state == RowState::never_ok) message += ", " + disposition_and_reason(table, outcome.row);
  if (outcome.state == RowState::tile) message += " " + tile_change(result, *outcome.pair);
  std::string text = fmt::format("    <testcase classname=\"attnprof.gate\" name=\"{}\"",
                                 xml_escaped(table.label(outcome.row)));
  if (outcome.failed)
    text += fmt::format(">\n      <failure type=\"{}\" message=\"{}\"/>\n    </testcase>\n",
                        xml_escaped(to_string(outcome.state)), xml_escaped(message));
  else if (is_skipped(outcome))
    text += fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml_escaped(message));
  else if (outcome.state != RowState::same)
    text += fmt::format(">\n      <system-out>{}</system-out>\n    </testcase>\n", xml_escaped(message));
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
  const bool nothing = result.compared_nothing();
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\"", count + nothing, failures,
                     nothing ? 1 : 0, skipped);
}

std::string error_case(std::string_view name, std::string_view message) {
  return fmt::format(
      "    <testcase classname=\"attnprof.gate\" name=\"{}\">\n      <error type=\"{}\" message=\"{}\"/>\n"
      "    </testcase>\n",
      name, name, xml_escaped(message));
}

}  // namespace

// When nothing was compared, which is no pass, it is red for who reads this file alone.
void write_gate_junit(std::ostream& stream, const GateReport& report) {
  const GateResult& result = report.result;
  begin_suite(stream, counts_of(result, report.options));
  if (const std::string kernels = kernels_sentence(result, report.options.against); !kernels.empty())
    stream << fmt::format(
        "    <properties>\n      <property name=\"kernels\" value=\"{}\"/>\n    </properties>\n",
        xml_escaped(kernels));
  for_each_row(result, report.options,
               [&](const RowOutcome& outcome) { stream << test_case(result, outcome); });
  if (result.compared_nothing()) stream << error_case("nothing compared", gate_summary(report));
  stream << fmt::format("    <system-out>{}</system-out>\n", xml_escaped(gate_text(report)));
  stream << end_of_suite;
}

std::string gate_error_junit(const Error& error) {
  std::ostringstream stream;
  begin_suite(stream, "tests=\"1\" failures=\"0\" errors=\"1\" skipped=\"0\"");
  stream << error_case("no verdict", error.what()) << end_of_suite;
  return stream.str();
}

}  // namespace attnprof
