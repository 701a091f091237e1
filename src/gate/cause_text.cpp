// A cause as a sentence.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "gate/causes.hpp"

namespace attnprof {
namespace {

// Nothing of what was 0.
std::string share(const Comparison& comparison) {
  if (!std::isfinite(comparison.worsening)) return "";
  const double change = (comparison.current - comparison.baseline) / std::abs(comparison.baseline);
  return fmt::format("{:+.2f} %", 100 * change);
}

std::string with_notes(const Metric& metric, const Comparison& comparison, std::vector<std::string> notes) {
  std::erase(notes, "");
  const std::string change = fmt::format("{} -> {}", human_value(metric, comparison.baseline),
                                         human_value(metric, comparison.current));
  return notes.empty() ? change : fmt::format("{} ({})", change, fmt::join(notes, ", "));
}

// "100 MB -> 102 MB (+2.00 %, more than 0.5 %)".
std::string change_and_why(const Metric& metric, const Comparison& comparison) {
  std::vector<std::string> notes = {share(comparison)};
  if (comparison.judgement.verdict == Verdict::worse) notes.push_back(human_allowance(metric));
  notes.push_back(comparison.judgement.why);
  return with_notes(metric, comparison, notes);
}

// The verdict that the state already says.
Verdict verdict_of(RowState state) {
  if (state == RowState::worse) return Verdict::worse;
  if (state == RowState::ambiguous) return Verdict::ambiguous;
  return state == RowState::better ? Verdict::better : Verdict::same;
}

std::string metric_text(const GateReport& report, const Cause& cause, const CauseMetric& found) {
  const Metric& metric = report.result.baseline->layout().metrics[found.metric];
  std::string text = human_name(metric);
  if (found.verdict != verdict_of(cause.state)) text += fmt::format(" {}", to_string(found.verdict));
  if (cause.rows == 1) return fmt::format("{} {}", text, change_and_why(metric, *found.most));
  return fmt::format("{} in {}, at most {}", text, found.rows, change_text(metric, *found.most));
}

std::string metrics_text(const GateReport& report, const Cause& cause) {
  std::string text;
  for (const CauseMetric& metric : cause.metrics)
    text += (text.empty() ? "" : "; ") + metric_text(report, cause, metric);
  if (!cause.pair || same_resolved(*report.result.baseline, *report.result.current, *cause.pair)) return text;
  return fmt::format("{}{}tile {}", text, text.empty() ? "" : "; ", tile_change(report.result, *cause.pair));
}

// Of one file only.
std::string place(const GateReport& report, const Cause& cause) {
  const Table& table = report.table_of(cause);
  if (cause.rows > 1) return fmt::format("only in {}", table.file());
  return fmt::format("only in {}, line {}", table.file(), table.line(cause.first));
}

std::string what_happened(const GateReport& report, const Cause& cause) {
  switch (cause.state) {
    case RowState::not_ok:
    case RowState::never_ok:
      return disposition_and_reason(*report.result.current, cause.first);
    case RowState::now_ok:
      return "was " + disposition_and_reason(*report.result.baseline, cause.pair->baseline);
    case RowState::missing:
    case RowState::added:
      return place(report, cause);
    default:
      return metrics_text(report, cause);
  }
}

std::string_view predicate(RowState state) {
  return state == RowState::tile ? "run with another tile" : to_string(state);
}

std::string tile_of(const Table& table, size_t row, bool with_knobs) {
  const std::string &br = table.fact(row, Fact::br), &bc = table.fact(row, Fact::bc),
                    &knobs = table.fact(row, Fact::knobs_used);
  const std::string text = br.empty() ? "none" : bc.empty() ? br : fmt::format("{}x{}", br, bc);
  return !with_knobs || knobs.empty() || knobs == "-" ? text : text + " " + knobs;
}

}  // namespace

std::string tile_change(const GateResult& result, const RowPair& pair) {
  const Table &baseline = *result.baseline, &current = *result.current;
  const bool knobs =
      baseline.fact(pair.baseline, Fact::knobs_used) != current.fact(pair.current, Fact::knobs_used);
  const auto macros = [&](const Table& table, size_t row) {
    const bool differ =
        baseline.layout().source == Source::build &&
        baseline.identity(pair.baseline, "macros") != current.identity(pair.current, "macros");
    return differ ? " " + table.identity(row, "macros") : "";
  };
  return fmt::format("{}{} -> {}{}", tile_of(baseline, pair.baseline, knobs), macros(baseline, pair.baseline),
                     tile_of(current, pair.current, knobs), macros(current, pair.current));
}

std::string disposition_and_reason(const Table& table, size_t row) {
  const std::string& reason = table.reason(row);
  return fmt::format("{}{}{}", table.disposition(row), reason.empty() ? "" : ": ", reason);
}

std::string change_text(const Metric& metric, const Comparison& comparison) {
  return with_notes(metric, comparison, {share(comparison)});
}

std::string describe_change(const GateResult& result, const Comparison& comparison) {
  const Metric& metric = result.baseline->layout().metrics[comparison.metric];
  return fmt::format("{} {}", metric.column, change_and_why(metric, comparison));
}

CauseText text_of(const GateReport& report, const Cause& cause) {
  const Source source = report.result.current->layout().source;
  const bool kernels = source == Source::build || source == Source::resources;
  return {.rows = fmt::format("{} of {} {}{}", cause.rows, cause.of, kernels ? "kernel" : "row",
                              cause.of == 1 ? "" : "s"),
          .state = fmt::format("{}{}", predicate(cause.state),
                               cause.state <= RowState::missing && !cause.failed ? " (allowed)" : ""),
          .label = report.label(cause),
          .what = what_happened(report, cause)};
}

std::string joined(const CauseText& text) {
  return fmt::format("{} {}{}{}{}: {}", text.rows, text.state, text.label.empty() ? "" : " (", text.label,
                     text.label.empty() ? "" : ")", text.what);
}

}  // namespace attnprof
