#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/safe_text.hpp"
#include "base/terminal_color.hpp"
#include "gate/advice.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

Tone tone_of(RowState state, bool failed) {
  switch (state) {
    case RowState::not_ok:
    case RowState::worse:
    case RowState::missing:
      return failed ? Tone::bad : Tone::doubtful;
    case RowState::ambiguous:
      return failed ? Tone::bad : Tone::doubtful;
    case RowState::better:
    case RowState::now_ok:
      return Tone::good;
    default:
      return Tone::plain;
  }
}

Tone tone_of(const GateResult& result) {
  return result.compared_nothing() ? Tone::doubtful : result.failed ? Tone::bad : Tone::good;
}

std::string_view verdict_of(const GateResult& result) {
  return result.compared_nothing() ? "gate compared nothing" : result.failed ? "gate failed" : "gate passed";
}

std::string_view words_of(RowState state) {
  return state == RowState::same   ? "the same"
         : state == RowState::tile ? "with another tile"
                                   : to_string(state);
}

std::string counts(const GateReport& report) {
  std::vector<std::string> parts;
  const size_t all = report.all_rows();
  for (size_t i = 0; i < report.rows.size(); ++i) {
    if (report.rows[i] == 0) continue;
    const auto state = static_cast<RowState>(i);
    const bool allowed = state <= RowState::missing && report.result.compared > 0 && !report.result.failed;
    const std::string of = parts.empty() ? fmt::format(" of {} row{}", all, all == 1 ? "" : "s") : "";
    parts.push_back(
        fmt::format("{}{} {}{}", report.rows[i], of, words_of(state), allowed ? " (allowed)" : ""));
  }
  return parts.empty() ? "no rows" : fmt::format("{}", fmt::join(parts, ", "));
}

std::string counted(const GateReport& report) {
  const size_t values = report.result.compared;
  return fmt::format(": {}; {} value{} compared", counts(report), values, values == 1 ? "" : "s");
}

std::string cause_line(const GateReport& report, const Cause& cause, bool color) {
  const CauseText text = text_of(report, cause);
  return fmt::format(
      "  {} {}{}: {}\n", text.rows, toned(tone_of(cause.state, cause.failed), text.state, color),
      text.label.empty() ? "" : fmt::format(" ({})", printable(text.label)), printable(text.what));
}

}  // namespace

std::string gate_summary(const GateReport& report) {
  return std::string(verdict_of(report.result)) + counted(report);
}

std::string gate_text(const GateReport& report, bool color) {
  std::string text = toned(tone_of(report.result), verdict_of(report.result), color) + counted(report) + "\n";
  for (const Cause& cause : report.causes) text += cause_line(report, cause, color);
  if (report.more_causes > 0)
    text += fmt::format("  and {} more rows that changed in {} other ways; --json FILE has all\n",
                        report.rows_of_more, report.more_causes);
  if (const std::string caption = report.caption(); !caption.empty())
    text += fmt::format("all rows: {}\n", printable(caption));
  for (const std::string& warning : report.result.warnings)
    text += fmt::format("{}: {}\n", toned(Tone::doubtful, "warning", color), printable(warning));
  if (const std::string kernels = kernels_sentence(report.result, report.options.against); !kernels.empty())
    text += printable(kernels) + "\n";
  if (const std::string advice = joined(gate_advice(report)); !advice.empty())
    text += fmt::format("what to do: {}\n", printable(advice));
  return text;
}

}  // namespace attnprof
