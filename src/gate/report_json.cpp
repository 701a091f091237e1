#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "gate/report.hpp"
#include "gate/row_outcome.hpp"

namespace attnprof {
namespace {

using Json = nlohmann::ordered_json;

std::string dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json metric_json(const Metric& metric) {
  return {{"column", metric.column},
          {"category", to_string(metric.category)},
          {"better", metric.direction == Direction::lower ? "lower" : "higher"},
          {"relative", metric.relative},
          {"floor", metric.floor}};
}

// `worsening` is null from 0 to x, which JSON cannot write.
Json comparison_json(const GateResult& result, const Comparison& comparison) {
  Json json = {{"column", result.baseline->layout().metrics[comparison.metric].column},
               {"baseline", comparison.baseline},
               {"current", comparison.current},
               {"worsening", std::isfinite(comparison.worsening) ? Json(comparison.worsening) : Json()},
               {"verdict", to_string(comparison.judgement.verdict)}};
  if (!comparison.judgement.why.empty()) json["why"] = comparison.judgement.why;
  return json;
}

Json row_json(const GateResult& result, const RowOutcome& outcome) {
  const bool missing = outcome.state == "missing";
  const Table& table = missing ? *result.baseline : *result.current;
  Json json = {{"row", table.label(outcome.row)}, {"state", outcome.state}, {"failed", outcome.failed}};
  if (missing || outcome.pair)
    json["baseline_line"] = result.baseline->line(missing ? outcome.row : outcome.pair->baseline);
  if (!missing) json["current_line"] = result.current->line(outcome.row);
  json["disposition"] = missing ? Json() : Json(table.disposition(outcome.row));
  json["reason"] = missing ? Json() : Json(table.reason(outcome.row));
  Json comparisons = Json::array();
  for (const Comparison& comparison : outcome.comparisons)
    comparisons.push_back(comparison_json(result, comparison));
  json["metrics"] = std::move(comparisons);
  return json;
}

}  // namespace

void write_gate_json(std::ostream& stream, const GateResult& result, const GateOptions& options) {
  Json head = {{"baseline", result.baseline->file()},
               {"current", result.current->file()},
               {"exit_code", static_cast<int>(result.exit_code())},
               {"summary", gate_summary(result)},
               {"warnings", result.warnings},
               {"compared", result.compared}};
  for (Verdict verdict : {Verdict::same, Verdict::better, Verdict::worse, Verdict::ambiguous})
    head[std::string(to_string(verdict))] = result.count(verdict);
  head["metrics"] = Json::array();
  for (const Metric& metric : result.baseline->layout().metrics)
    head["metrics"].push_back(metric_json(metric));
  std::string text = dumped(head);
  text.back() = ',';
  stream << text << "\"rows\":[";
  const char* before = "\n";
  for_each_row(result, options, [&](const RowOutcome& outcome) {
    stream << before << dumped(row_json(result, outcome));
    before = ",\n";
  });
  stream << "\n]}\n";
}

std::string gate_error_json(const Error& error) {
  return dumped({{"exit_code", static_cast<int>(error.code())}, {"error", error.what()}}) + "\n";
}

}  // namespace attnprof
