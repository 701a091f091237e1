#include "gate/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>

#include "base/csv.hpp"
#include "base/error.hpp"
#include "base/input_file.hpp"
#include "problem/problem_fields.hpp"
#include "row/schema.hpp"
#include "schedule/kernel_fields.hpp"

namespace attnprof {
namespace {

constexpr size_t fact_count = static_cast<size_t>(Fact::count);
constexpr size_t extra_count = static_cast<size_t>(Extra::count);

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// What a kernel is built for, whatever sizes a plan sweeps.
std::vector<std::string> kernel_key() {
  std::vector<std::string> names = {"variant", "step", "arch"};
  for (const ProblemField* field : kernel_fields()) names.emplace_back(field->name);
  names.insert(names.end(), {"br", "bc", "macros"});
  return names;
}

std::vector<std::string> fields_of(std::string_view key) {
  if (key.find('"') == std::string_view::npos) {  // most are: no parser for each of a million rows
    std::vector<std::string> fields;
    for (size_t begin = 0;;) {
      const size_t comma = key.find(',', begin);
      fields.emplace_back(key.substr(begin, comma - begin));
      if (comma == std::string_view::npos) return fields;
      begin = comma + 1;
    }
  }
  const std::string line = std::string(key) + "\n";
  const CsvText csv = parse_csv(line, "key");
  return csv.records.empty() ? std::vector<std::string>{""} : csv.records.front().fields;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

Layout layout_of(const std::vector<std::string>& header, const std::vector<std::string>& key,
                 const std::vector<Metric>& metrics) {
  if (!key.empty()) return {Source::other, key, metrics};
  if (contains(header, "entry") && contains(header, "step") && contains(header, "arch"))
    return {Source::build, kernel_key(), build_metrics(metrics, /*of_resources=*/false)};
  if (contains(header, "kernel") && contains(header, "copy") && contains(header, "arch"))
    return {Source::resources, {"file", "arch", "kernel", "copy"}, build_metrics(metrics, true)};
  Layout layout{Source::results, identity_names(), metrics};
  std::erase_if(layout.metrics, [](const Metric& metric) { return !find_column(metric.column); });
  return layout;
}

std::string_view column_of(Fact fact) {
  constexpr std::array<std::string_view, fact_count> names = {
      "run",          "env_id", "backend", "device",     "disposition", "reason", "flags", "latency_source",
      "bytes_source", "br",     "bc",      "knobs_used", "tile",        "error",  "file"};
  return names[static_cast<size_t>(fact)];
}

std::string_view column_of(Extra extra) {
  constexpr std::array<std::string_view, extra_count> names = {"latency_ci95_low_ns",
                                                               "latency_ci95_high_ns",
                                                               "sm_cycles",
                                                               "sm_clock_mhz",
                                                               "hbm_spread_pct",
                                                               "hbm_counts",
                                                               "theoretical_occupancy_pct",
                                                               ctas_per_sm_column,
                                                               "threads_per_cta"};
  return names[static_cast<size_t>(extra)];
}

std::vector<std::string> Table::unknown_columns() const {
  std::vector<std::string> unknown;
  if (layout_.source == Source::results)
    for (const std::string& name : header_)
      if (!find_column(name)) unknown.push_back(name);
  return unknown;
}

std::string_view Table::key(size_t row) const {
  const uint64_t begin = row == 0 ? 0 : key_ends_[row - 1];
  return std::string_view(key_text_).substr(begin, key_ends_[row] - begin);
}

bool Table::tells(const std::vector<std::string>& cells, size_t column) const {
  if (layout_.source == Source::other) return true;
  if (cells[column].empty()) return false;
  const ProblemField* field = find_problem_field(layout_.key[column]);
  if (!field || field->first_schema) return true;
  if (field->absent_as.empty()) return cells[column] != field->absent;
  const auto other = std::ranges::find(layout_.key, field->absent_as) - layout_.key.begin();
  return static_cast<size_t>(other) == cells.size() || cells[column] != cells[static_cast<size_t>(other)];
}

std::string Table::label(size_t row) const { return label(row, std::vector<bool>(layout_.key.size(), true)); }

std::string Table::label(size_t row, const std::vector<bool>& columns) const {
  const std::vector<std::string> fields = fields_of(key(row));
  const auto shown = [&](size_t i) { return i < fields.size() && columns[i] && tells(fields, i); };
  const auto is_tile = [&](size_t i) {  // br, and bc beside it
    return layout_.source == Source::build && layout_.key[i] == "br" && shown(i) && shown(i + 1);
  };
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!shown(i)) continue;
    if (!text.empty()) text += " ";
    const bool named = layout_.source == Source::other || is_number(fields[i]);
    if (is_tile(i)) {
      text += fields[i] + "x" + fields[i + 1];
      ++i;
    } else {
      text += named ? layout_.key[i] + "=" + fields[i] : fields[i];
    }
  }
  return text;
}

std::string Table::identity(size_t row, std::string_view column) const {
  const auto at = std::ranges::find(layout_.key, column) - layout_.key.begin();
  const std::vector<std::string> fields = fields_of(key(row));
  return static_cast<size_t>(at) < fields.size() ? fields[static_cast<size_t>(at)] : "";
}

const std::string& Table::fact(size_t row, Fact fact) const {
  return texts_[facts_[row * fact_count + static_cast<size_t>(fact)]];
}

std::optional<double> Table::value(size_t row, size_t metric) const {
  const double value = values_[row * (layout_.metrics.size() + extra_count) + metric];
  return value == value ? std::optional(value) : std::nullopt;
}

std::optional<double> Table::extra(size_t row, Extra extra) const {
  return value(row, layout_.metrics.size() + static_cast<size_t>(extra));
}

std::optional<double> Table::warps(size_t row) const {
  if (layout_.source == Source::results) return extra(row, Extra::occupancy);
  const auto ctas = extra(row, Extra::ctas_per_sm), threads = extra(row, Extra::threads);
  return ctas && threads ? std::optional(*ctas * std::ceil(*threads / 32)) : std::nullopt;
}

bool Table::ok(size_t row) const { return disposition(row) == "ok"; }

std::string Table::disposition(size_t row) const {
  if (layout_.source == Source::results) return fact(row, Fact::disposition);
  return fact(row, Fact::error).empty() ? "ok" : "failed";
}

const std::string& Table::reason(size_t row) const {
  return fact(row, layout_.source == Source::results ? Fact::reason : Fact::error);
}

Table read_table(const std::string& path, const std::vector<std::string>& key,
                 const std::vector<Metric>& metrics) {
  check_input(path);
  std::ifstream stream(path, std::ios::binary);
  return Table(stream, path, key, metrics);
}

std::pair<Table, Table> read_tables(const std::string& baseline, const std::string& current,
                                    const std::vector<std::string>& key, const std::vector<Metric>& metrics) {
  auto second = std::async(std::launch::async, [&] { return read_table(current, key, metrics); });
  Table first = read_table(baseline, key, metrics);
  return {std::move(first), second.get()};
}

}  // namespace attnprof
