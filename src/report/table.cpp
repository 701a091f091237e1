#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/safe_text.hpp"
#include "base/text_table.hpp"
#include "base/units.hpp"

namespace attnprof {
namespace {

struct KeyFigure {
  const char* column;
  const char* title;
};

// Figures a person looks at first, in order of importance: where the width ends, the last ones are hidden.
constexpr KeyFigure key_figures[] = {
    {"latency_median_ns", "latency"},
    {"useful_tflops_per_s", "rate"},
    {"hbm_bytes", "HBM"},
    {"sm_bytes", "SM"},
    {"roof_pct", "of roof"},
    {"bound", "bound"},
    {"verified", "verified"},
    {"flags", "flags"},
    {"hbm_intensity", "FLOP/HBM B"},
    {"sm_intensity", "FLOP/SM B"},
    {"mfu_pct", "MFU"},
    {"model_hbm_bytes", "HBM model"},
    {"io_lower_bound_bytes", "HBM bound"},
    {"workspace_bytes", "workspace"},
};

struct TableColumn {
  std::string title;
  std::vector<std::string> cells;
  size_t width = 0;
  bool right = false;   // numbers
  bool status = false;  // painted
  size_t schema_columns = 1;
};

bool varies(std::string_view name, const std::vector<Row>& rows) {
  const Column& column = *find_column(name);
  return std::ranges::any_of(
      rows, [&, first = cell(column, rows.front())](const Row& row) { return cell(column, row) != first; });
}

bool empty_everywhere(const Column& column, const std::vector<Row>& rows) {
  return std::ranges::all_of(rows, [&](const Row& row) { return cell(column, row).empty(); });
}

TableColumn make(std::string_view name, std::string title, const std::vector<Row>& rows) {
  const Column& column = *find_column(name);
  TableColumn result;
  result.title = std::move(title);
  result.right = !std::holds_alternative<std::string*>(column.field(const_cast<Row&>(rows.front())));
  result.status = column.group == Group::status;
  for (const Row& row : rows) result.cells.push_back(human_cell(column, row));
  return result;
}

// Br x Bc as resolved, in one column.
TableColumn make_tile(const std::vector<Row>& rows) {
  TableColumn result;
  result.title = "tile";
  result.right = true;
  result.schema_columns = 2;
  for (const Row& row : rows)
    result.cells.push_back(
        row.resolved.br && row.resolved.bc ? fmt::format("{}x{}", *row.resolved.br, *row.resolved.bc) : "-");
  return result;
}

// Columns `a` and `b`, both when they differ in some row, else `a` under `together`; none when nothing
// varies.
void add_pair(std::vector<TableColumn>& columns, std::string_view a, std::string_view b,
              std::string_view together, const std::vector<Row>& rows) {
  if (!varies(a, rows) && !varies(b, rows)) return;
  const bool same = std::ranges::all_of(
      rows, [&](const Row& row) { return cell(*find_column(a), row) == cell(*find_column(b), row); });
  columns.push_back(make(a, std::string(same ? together : a), rows));
  if (same)
    columns.back().schema_columns = 2;
  else
    columns.push_back(make(b, std::string(b), rows));
}

// Identity that varies; the disposition unless all are ok; then the key figures that are there.
std::vector<TableColumn> choose(const std::vector<Row>& rows) {
  std::vector<TableColumn> chosen;
  const auto add_varying = [&](std::string_view name, std::string_view title) {
    if (varies(name, rows)) chosen.push_back(make(name, std::string(title), rows));
  };
  chosen.push_back(make("variant", "variant", rows));
  std::vector<std::string_view> paired;
  for (const ProblemField& field : problem_fields())
    if (!field.twin.empty()) {
      add_pair(chosen, field.name, field.twin, field.twin_title, rows);
      paired.push_back(field.twin);
    } else if (std::ranges::find(paired, field.name) == paired.end()) {
      add_varying(field.name, field.short_title());
    }
  if (varies("tile", rows) || varies("br", rows) || varies("bc", rows)) chosen.push_back(make_tile(rows));
  for (const char* name : {"knobs", "cache"}) add_varying(name, name);
  if (std::ranges::any_of(rows, [](const Row& row) { return row.status.disposition != "ok"; }))
    chosen.push_back(make("disposition", "status", rows));
  for (const KeyFigure& figure : key_figures)
    if (!empty_everywhere(*find_column(figure.column), rows))
      chosen.push_back(make(figure.column, figure.title, rows));
  return chosen;
}

std::vector<TableColumn> columns_of(const std::vector<Row>& rows, const TableStyle& style) {
  std::vector<TableColumn> columns;
  for (const Column* column : style.columns)
    columns.push_back(make(column->name, std::string(column->name), rows));
  if (columns.empty()) columns = choose(rows);
  for (TableColumn& column : columns) {
    column.width = column.title.size();
    for (const std::string& text : column.cells) column.width = std::max(column.width, text.size());
    column.width = std::min(column.width, style.width);
  }
  return columns;
}

std::string paint(const TableColumn& column, const std::string& padded, const std::string& text, bool color) {
  if (!color || !column.status) return padded;
  const char* code = text == "incorrect" || text == "failed" ? "31" : text == "skipped" ? "33" : nullptr;
  return code ? fmt::format("\x1b[{}m{}\x1b[0m", code, padded) : padded;
}

// To the column's width; longer text is cut.
std::string pad(const TableColumn& column, const std::string& text) {
  return column.right ? fmt::format("{:>{}.{}}", text, column.width, column.width)
                      : fmt::format("{:<{}.{}}", text, column.width, column.width);
}

// As many columns as the width takes, in order; at least the first.
size_t fitting(const std::vector<TableColumn>& columns, size_t width) {
  size_t used = 0, count = 0;
  for (const TableColumn& column : columns) {
    used += column.width + (count ? 2 : 0);
    if (count && used > width) break;
    ++count;
  }
  return count;
}

std::string without_end_spaces(std::string line) {
  const size_t end = line.find_last_not_of(' ');
  line.resize(end == std::string::npos ? 0 : end + 1);
  return line;
}

// A line end in a compiler's message would break the table.
std::string one_line(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return std::isspace(c) != 0; }, ' ');
  return printable(text);
}

size_t told_columns(const std::vector<Row>& rows) {
  return static_cast<size_t>(
      std::ranges::count_if(schema(), [&](const Column& column) { return tells_in_any(column, rows); }));
}

std::string reasons(const std::vector<Row>& rows, size_t width) {
  constexpr size_t most = 8;
  std::vector<std::pair<std::string, size_t>> counted;
  for (const Row& row : rows) {
    if (row.status.reason.empty()) continue;
    const std::string text =
        fmt::format("{} {}: {}", row.identity.variant, row.status.disposition, row.status.reason);
    const auto found = std::ranges::find(counted, text, &std::pair<std::string, size_t>::first);
    if (found == counted.end())
      counted.emplace_back(text, 1);
    else
      ++found->second;
  }
  std::string result;
  for (size_t i = 0; i < std::min(most, counted.size()); ++i)
    result +=
        wrap_text(counted[i].second == 1 ? counted[i].first
                                         : fmt::format("{} ({} rows)", counted[i].first, counted[i].second),
                  width, "  ");
  if (counted.size() > most)
    result += wrap_text(fmt::format("and {} other reasons, in the column reason", counted.size() - most),
                        width, "  ");
  return result;
}

}  // namespace

std::string human_cell(const Column& column, const Row& row) {
  const std::string text = cell(column, row);
  if (text.empty()) return "-";
  const Field field = column.field(const_cast<Row&>(row));
  if (std::holds_alternative<std::string*>(field)) return one_line(text);
  const double value = std::holds_alternative<Count*>(field) ? static_cast<double>(**std::get<Count*>(field))
                                                             : **std::get<Real*>(field);
  const std::string_view name = column.name;
  if (name.ends_with("_ns")) return human_time_ns(value);
  if (name.ends_with("_bytes")) return human_bytes(value);
  if (name.ends_with("_flops")) return human_flops(value);
  if (name.ends_with("_tflops_per_s")) return human_number(value) + " TFLOP/s";
  if (name.ends_with("_pct")) return human_number(value) + " %";
  if (name.ends_with("_mhz")) return human_number(value) + " MHz";
  return std::holds_alternative<Count*>(field) ? text : human_number(value);
}

std::string format_table(const std::vector<Row>& rows, const TableStyle& style) {
  if (rows.empty()) return "no rows\n";
  const std::vector<TableColumn> columns = columns_of(rows, style);
  const size_t shown = fitting(columns, style.width);
  std::string result, header;
  for (size_t i = 0; i < shown; ++i) header += (i ? "  " : "") + pad(columns[i], columns[i].title);
  result +=
      fmt::format(fmt::runtime(style.color ? "\x1b[1m{}\x1b[0m\n" : "{}\n"), without_end_spaces(header));
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < shown; ++i)
      line += (i ? "  " : "") +
              paint(columns[i], pad(columns[i], columns[i].cells[r]), columns[i].cells[r], style.color);
    result += without_end_spaces(line) + "\n";
  }
  result += reasons(rows, style.width);
  size_t hidden = style.columns.empty() ? told_columns(rows) : style.columns.size();
  for (size_t i = 0; i < shown; ++i) hidden -= columns[i].schema_columns;
  if (hidden > 0)
    result += wrap_text(
        fmt::format("{} columns hidden: --columns NAMES shows others, -o FILE.csv keeps all", hidden),
        style.width, "");
  return result;
}

}  // namespace attnprof
