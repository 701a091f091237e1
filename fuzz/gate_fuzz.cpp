// libFuzzer target: any two texts through the CSV reader, the gate and its reports, and through the reader of
// rows. First byte: which kind of file; then the baseline, a line "=====", and the current file.
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/csv.hpp"
#include "gate/gate.hpp"
#include "gate/report.hpp"
#include "row/row_csv.hpp"

namespace attnprof {
namespace {

// Ends the program so that libFuzzer keeps the input.
void require(bool holds) {
  if (!holds) std::abort();
}

GateOptions options_for(uint8_t kind) {
  GateOptions options;
  if (kind % 2 == 0) return options;
  options.key = {"name"};
  options.metrics = {parse_metric("value:lower:1%:0"), parse_metric("speed:higher:0%:2")};
  return options;
}

// By other means than the gate's: whole records, and in ok rows gated cells that are finite numbers or empty.
bool well_formed(const std::string& text, const Table& table) {
  const CsvText csv = parse_csv(text, "again");
  if (csv.torn || csv.records.empty()) return false;
  const std::vector<std::string>& header = csv.records.front().fields;
  for (size_t i = 1; i < csv.records.size(); ++i) {
    if (csv.records[i].fields.size() != header.size()) return false;
    for (const Metric& metric : table.layout().metrics)
      for (size_t column = 0; column < header.size(); ++column) {
        const std::string& cell = csv.records[i].fields[column];
        if (header[column] != metric.column || cell.empty()) continue;
        char* end = nullptr;
        if (!std::isfinite(std::strtod(cell.c_str(), &end)) || *end != '\0') return false;
      }
  }
  return true;
}

void check_reports(const GateResult& result, const GateOptions& options) {
  const GateReport report(result, options);
  require(gate_text(report).ends_with('\n'));
  require(gate_markdown(report).size() < job_summary_limit);
  require(gate_annotations(report, ".").empty() || gate_annotations(report, ".").ends_with('\n'));
  std::ostringstream junit, json;
  write_gate_junit(junit, report);
  require(junit.str().ends_with("</testsuites>\n"));
  write_gate_json(json, report);
  require(nlohmann::json::accept(json.str()));
}

// The other commands' reader takes every file of rows that the gate takes: one set of rules.
void check_row_reader(const std::string& text, const Table& table) {
  if (table.layout().source == Source::results) require(parse_rows(text, "rows").rows.size() == table.rows());
}

void read_rows_of(const std::string& text) {
  try {
    parse_rows(text, "rows");
  } catch (const Error&) {
  }
}

int gated(const std::string& baseline, const std::string& current, const GateOptions& options) {
  try {
    std::istringstream old_stream(baseline), new_stream(current);
    const Table old_table(old_stream, "base", options.key, options.metrics);
    const Table new_table(new_stream, "new", options.key, options.metrics);
    check_row_reader(current, new_table);
    const GateResult result = gate({old_table, {}}, {new_table, {}}, options);
    check_reports(result, options);
    if (result.exit_code() == ExitCode::ok)
      require(well_formed(baseline, old_table) && well_formed(current, new_table));
    return static_cast<int>(result.exit_code());
  } catch (const Error& error) {
    return static_cast<int>(error.code());
  }
}

void fuzz(std::string text) {
  if (text.empty()) return;
  GateOptions options = options_for(static_cast<uint8_t>(text.front()));
  text.erase(0, 1);
  constexpr std::string_view separator = "=====\n";
  const size_t at = text.find(separator);
  const std::string baseline = text.substr(0, at);
  const std::string current = at == std::string::npos ? baseline : text.substr(at + separator.size());
  read_rows_of(current);
  gated(baseline, current, options);
  options.run = "newest";  // a file of several runs may lack, in its last one, rows of earlier ones
  require(gated(baseline, baseline, options) != 1);  // no file regresses against itself
}

}  // namespace
}  // namespace attnprof

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  attnprof::fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
