#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string_view>

#include "base/json_names.hpp"
#include "gate/advice.hpp"
#include "gate/report.hpp"
#include "gate/row_outcome.hpp"

namespace attnprof {
namespace {

std::string dumped(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson metric_json(const Metric& metric) {
  return {{"column", metric.column},
          {"category", to_string(metric.category)},
          {"better", metric.direction == Direction::lower ? "lower" : "higher"},
          {"relative", metric.relative},
          {"floor", metric.floor}};
}

// Rows are written as text: building a value of each took three times as long as reading both files. The
// library still writes what needs escapes.
using Text = fmt::memory_buffer;

template <class... Arguments>
void append(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(fmt::appender(text), format, std::forward<Arguments>(arguments)...);
}

bool is_plain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

std::string json_string(std::string_view text) {
  return is_plain(text) ? fmt::format("\"{}\"", text) : dumped(OrderedJson(text));
}

// From 0 to x it is null, since JSON cannot write infinity.
std::string number_or_null(double value) { return std::isfinite(value) ? fmt::format("{}", value) : "null"; }

void append_comparison(Text& text, const GateResult& result, const Comparison& comparison) {
  append(text, R"({{"column":{},"baseline":{},"current":{},"worsening":{},"verdict":"{}")",
         json_string(result.baseline->layout().metrics[comparison.metric].column), comparison.baseline,
         comparison.current, number_or_null(comparison.worsening), to_string(comparison.judgement.verdict));
  if (comparison.judgement.uncertainty > 0)
    append(text, R"(,"uncertainty":{})", number_or_null(comparison.judgement.uncertainty));
  if (!comparison.judgement.why.empty()) append(text, R"(,"why":{})", json_string(comparison.judgement.why));
  text.push_back('}');
}

// Every compared value, `same` too.
void append_metrics(Text& text, const GateResult& result, const RowPair& pair) {
  size_t written = 0;
  for (size_t metric = 0; pair.compared > written; ++metric)
    if (const auto comparison = compare(*result.baseline, *result.current, pair, metric)) {
      if (written++ > 0) text.push_back(',');
      append_comparison(text, result, *comparison);
    }
}

void append_row(Text& text, const GateResult& result, const RowOutcome& outcome) {
  const bool missing = outcome.state == RowState::missing;
  const Table& table = missing ? *result.baseline : *result.current;
  append(text, R"({{"row":{},"state":"{}","failed":{})", json_string(table.label(outcome.row)),
         to_string(outcome.state), outcome.failed);
  if (missing || outcome.pair)
    append(text, R"(,"baseline_line":{})",
           result.baseline->line(missing ? outcome.row : outcome.pair->baseline));
  if (!missing) append(text, R"(,"current_line":{})", table.line(outcome.row));
  append(text, R"(,"disposition":{},"reason":{},"metrics":[)",
         missing ? "null" : json_string(table.disposition(outcome.row)),
         missing ? "null" : json_string(table.reason(outcome.row)));
  if (outcome.pair) append_metrics(text, result, *outcome.pair);
  append(text, "]}}");
}

OrderedJson row_counts_json(const GateReport& report) {
  OrderedJson counts = OrderedJson::object();
  for (size_t i = 0; i < report.rows.size(); ++i)
    counts[std::string(to_string(static_cast<RowState>(i)))] = report.rows[i];
  return counts;
}

// As people read them; "rows" below has each value.
OrderedJson causes_json(const GateReport& report) {
  OrderedJson all = OrderedJson::array();
  for (const Cause& cause : report.causes)
    all.push_back({{"state", to_string(cause.state)},
                   {"failed", cause.failed},
                   {"rows", cause.rows},
                   {"of", cause.of},
                   {"shared", report.label(cause)},
                   {"text", joined(text_of(report, cause))}});
  return all;
}

OrderedJson kernels_json(const std::vector<KernelSources>& sources) {
  OrderedJson all = OrderedJson::array();
  for (const KernelSources& one : sources) {
    all.push_back({{"path", one.path}, {"hash", one.hash}});
    if (one.uncommitted > 0) all.back()["uncommitted_changes"] = one.uncommitted;
  }
  return all;
}

}  // namespace

void write_gate_json(std::ostream& stream, const GateReport& report) {
  const GateResult& result = report.result;
  OrderedJson head = {{"baseline", result.baseline->file()},
                      {"current", result.current->file()},
                      {"exit_code", static_cast<int>(result.exit_code())},
                      {"summary", gate_summary(report)},
                      {"advice", joined(gate_advice(report))},
                      {"warnings", result.warnings},
                      {"compared", result.compared}};
  head["kernels"] = {{"baseline", kernels_json(result.baseline_kernels)},
                     {"current", kernels_json(result.current_kernels)}};
  for (Verdict verdict : {Verdict::same, Verdict::better, Verdict::worse, Verdict::ambiguous})
    head[std::string(to_string(verdict))] = result.count(verdict);
  head["row_counts"] = row_counts_json(report);
  head["shared_identity"] = report.caption();
  head["causes"] = causes_json(report);
  head["metrics"] = OrderedJson::array();
  for (const Metric& metric : result.baseline->layout().metrics)
    head["metrics"].push_back(metric_json(metric));
  std::string text = dumped(head);
  text.back() = ',';
  stream << text << "\"rows\":[";
  const char* before = "\n";
  Text row;
  for_each_row(result, report.options, [&](const RowOutcome& outcome) {
    row.clear();
    append_row(row, result, outcome);
    stream << before << std::string_view(row.data(), row.size());
    before = ",\n";
  });
  stream << "\n]}\n";
}

std::string gate_error_json(const Error& error) {
  return dumped({{"exit_code", static_cast<int>(error.code())}, {"error", error.what()}}) + "\n";
}

}  // namespace attnprof
