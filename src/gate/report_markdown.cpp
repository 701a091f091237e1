#include <fmt/format.h>

#include <algorithm>

#include "base/safe_text.hpp"
#include "gate/advice.hpp"
#include "gate/compared_kernels.hpp"
#include "gate/markdown_text.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

constexpr size_t most_rows_shown = 10;  // unfolded
constexpr size_t most_warnings = 20;

std::string title(const GateResult& result) {
  return result.compared_nothing() ? "nothing compared" : result.failed ? "failed" : "passed";
}

std::string bold(const std::string& text) { return "**" + text + "**"; }

std::string cause_item(const GateReport& report, const Cause& cause) {
  const CauseText text = text_of(report, cause);
  const std::string label = text.label.empty() ? "" : fmt::format(" ({})", markdown_escaped(text.label));
  return fmt::format("- **{} {}**{}: {}\n", text.rows, text.state, label, markdown_escaped(text.what));
}

// The answer is the second line; the first says whose it is.
std::string head(const GateReport& report) {
  std::string text = fmt::format("### attnprof gate: {}\n\n{}\n", title(report.result),
                                 markdown_escaped(gate_summary(report)));
  if (!report.causes.empty()) text += "\n";
  for (const Cause& cause : report.causes) text += cause_item(report, cause);
  if (report.more_causes > 0)
    text += fmt::format("- and {} more rows that changed in {} other ways\n", report.rows_of_more,
                        report.more_causes);
  if (const std::string caption = report.caption(); !caption.empty())
    text += fmt::format("\nAll rows: {}\n", markdown_escaped(caption));
  return text;
}

std::string notes(const GateReport& report) {
  std::string text;
  const std::vector<std::string>& warnings = report.result.warnings;
  for (size_t i = 0; i < std::min(warnings.size(), most_warnings); ++i)
    text += fmt::format("\n> warning: {}\n", markdown_escaped(warnings[i]));
  if (const std::string kernels = kernels_sentence(report.result, report.options.against); !kernels.empty())
    text += fmt::format("\n{}\n", markdown_escaped(kernels));
  const Advice advice = gate_advice(report);
  if (!advice.sentence.empty()) text += fmt::format("\nWhat to do: {}\n", markdown_escaped(advice.sentence));
  // No line of it can end the block: it begins with the program's name.
  if (!advice.command.empty()) text += fmt::format("\n~~~sh\n{}\n~~~\n", printable(advice.command));
  return text;
}

// A column a metric; values that changed are bold.
class RowTable {
 public:
  RowTable(const GateReport& report, std::vector<bool> metrics)
      : report_(report), metrics_(std::move(metrics)), others_(report.identity.others()) {}

  std::string header() const {
    std::vector<std::string> cells = {"row", "verdict"}, rule = {"---", "---"};
    for (size_t i = 0; i < metrics_.size(); ++i) {
      if (!metrics_[i]) continue;
      cells.push_back(markdown_escaped(human_name(report_.result.baseline->layout().metrics[i])));
      rule.emplace_back("---:");
    }
    return "\n" + markdown_row(cells) + markdown_row(rule);
  }

  std::string line(const RowOutcome& outcome) const {
    const bool missing = outcome.state == RowState::missing;
    const Table& table = missing ? *report_.result.baseline : *report_.result.current;
    const std::string label = markdown_escaped(table.label(outcome.row, others_));
    std::vector<std::string> cells = {label.empty() ? "the only one" : label, verdict(outcome)};
    for (size_t i = 0; i < metrics_.size(); ++i)
      if (metrics_[i]) cells.push_back(outcome.pair ? value(outcome, i) : "");
    return markdown_row(cells);
  }

 private:
  std::string verdict(const RowOutcome& outcome) const {
    std::string text(to_string(outcome.state));
    if (outcome.state == RowState::not_ok || outcome.state == RowState::never_ok)
      text += ": " + disposition_and_reason(*report_.result.current, outcome.row);
    text = markdown_escaped(text);
    if (outcome.failed) text = bold(text);
    if (outcome.pair && table_has_tiles(*outcome.pair))
      text += ", tile " + bold(markdown_escaped(tile_change(report_.result, *outcome.pair)));
    return text;
  }
  bool table_has_tiles(const RowPair& pair) const {
    const GateResult& result = report_.result;
    return result.baseline->ok(pair.baseline) && result.current->ok(pair.current) &&
           !same_resolved(*result.baseline, *result.current, pair);
  }
  std::string value(const RowOutcome& outcome, size_t index) const {
    const Metric& metric = report_.result.baseline->layout().metrics[index];
    const auto changed = std::ranges::find(outcome.different, index, &Comparison::metric);
    if (changed != outcome.different.end())
      return bold(markdown_escaped(change_text(metric, **changed))) +
             ((*changed)->judgement.verdict == Verdict::ambiguous ? " ?" : "");
    const auto now = report_.result.current->value(outcome.pair->current, index);
    return now ? markdown_escaped(human_value(metric, *now)) : "";
  }

  const GateReport& report_;
  const std::vector<bool> metrics_;  // that have a column
  const std::vector<bool> others_;   // cells of the key that are not in the caption
};

std::vector<bool> changed_metrics(const GateResult& result) {
  std::vector<bool> changed(result.baseline->layout().metrics.size(), false);
  for (const Comparison& comparison : result.different) changed[comparison.metric] = true;
  return changed;
}

std::vector<bool> known_metrics(const GateResult& result) {
  std::vector<bool> known(result.baseline->layout().metrics.size(), false);
  for (const RowPair& pair : result.pairs)
    for (size_t i = 0; i < known.size(); ++i)
      if (!known[i]) known[i] = result.current->value(pair.current, i).has_value();
  return known;
}

// The first rows of what is worst.
std::string worst_rows(const GateReport& report, size_t room) {
  if (report.causes.empty()) return "";
  const RowTable table(report, changed_metrics(report.result));
  std::vector<std::string> lines[static_cast<size_t>(RowState::count)];
  for_each_row(report.result, report.options, [&](const RowOutcome& outcome) {
    if (outcome.state >= RowState::never_ok) return;
    auto& of_state = lines[static_cast<size_t>(outcome.state)];
    if (of_state.size() < most_rows_shown) of_state.push_back(table.line(outcome));
  });
  std::string text = table.header();
  const size_t before = text.size();
  size_t shown = 0;
  for (const auto& of_state : lines)
    for (const std::string& line : of_state)
      if (shown < most_rows_shown && text.size() + line.size() < room) {
        text += line;
        ++shown;
      }
  return text.size() == before ? "" : text;
}

std::string all_rows(const GateReport& report, size_t room) {
  if (report.all_rows() == 0) return "";
  const RowTable table(report, known_metrics(report.result));
  std::string text = fmt::format("\n<details><summary>All {} rows</summary>\n", report.all_rows());
  text += table.header();
  size_t shown = 0;
  for_each_row(report.result, report.options, [&](const RowOutcome& outcome) {
    if (text.size() >= room) return;
    text += table.line(outcome);
    ++shown;
  });
  if (shown < report.all_rows())
    text += fmt::format("\nand {} more, in the file of --json\n", report.all_rows() - shown);
  return text + "\n</details>\n";
}

}  // namespace

std::string gate_markdown(const GateReport& report, size_t room) {
  const size_t budget = room / 4 * 3;
  std::string text = head(report);
  if (text.size() < budget) text += worst_rows(report, budget - text.size());
  text += notes(report);
  if (text.size() < budget) text += all_rows(report, budget - text.size());
  return text;
}

std::string gate_error_markdown(const Error& error) {
  return fmt::format("### attnprof gate: no verdict\n\n{}\n", markdown_escaped(error.what()));
}

}  // namespace attnprof
