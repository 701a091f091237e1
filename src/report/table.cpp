#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "report/units.hpp"

namespace attnprof {
namespace {

// Figures a person looks at first, in order of importance: where the width ends, the last ones are hidden.
constexpr std::array key_figures = {"latency_median_ns",
                                    "useful_tflops_per_s",
                                    "hbm_bytes",
                                    "sm_bytes",
                                    "roof_pct",
                                    "bound",
                                    "verified",
                                    "hbm_intensity",
                                    "sm_intensity",
                                    "mfu_pct",
                                    "flags",
                                    "model_hbm_bytes",
                                    "theoretical_occupancy_pct",
                                    "workspace_bytes",
                                    "io_lower_bound_bytes"};

struct TableColumn {
  const Column* column;
  std::string title;
  std::vector<std::string> cells;
  size_t width = 0;
  bool number = false;
};

bool varies(const Column& column, const std::vector<Row>& rows) {
  return std::ranges::any_of(
      rows, [&, first = cell(column, rows.front())](const Row& row) { return cell(column, row) != first; });
}

bool empty_everywhere(const Column& column, const std::vector<Row>& rows) {
  return std::ranges::all_of(rows, [&](const Row& row) { return cell(column, row).empty(); });
}

// "latency_median_ns" -> "latency_median": the cell carries the unit.
std::string title_of(std::string_view name) {
  for (std::string_view unit : {"_ns", "_bytes", "_pct", "_tflops_per_s", "_mhz", "_flops"})
    if (name.ends_with(unit) && name.size() > unit.size()) {
      const std::string_view base = name.substr(0, name.size() - unit.size());
      return std::string(base == "useful"                   ? "useful_rate"
                         : base == "roof" && unit != "_pct" ? "roof_rate"
                                                            : base);
    }
  return std::string(name);
}

TableColumn make(const Column& column, const std::vector<Row>& rows) {
  TableColumn result;
  result.column = &column;
  result.title = title_of(column.name);
  result.width = result.title.size();
  result.number = !std::holds_alternative<std::string*>(column.field(const_cast<Row&>(rows.front())));
  for (const Row& row : rows) {
    result.cells.push_back(human_cell(column, row));
    result.width = std::max(result.width, result.cells.back().size());
  }
  return result;
}

// Identity that varies; the disposition unless all are ok; then the key figures that are there.
std::vector<const Column*> choose(const std::vector<Row>& rows) {
  std::vector<const Column*> chosen;
  for (const Column& column : schema())
    if (column.group == Group::identity && column.name != "tile" && varies(column, rows))
      chosen.push_back(&column);
  if (chosen.empty()) chosen.push_back(find_column("variant"));
  const bool asked = varies(*find_column("tile"), rows);
  for (const char* side : {"br", "bc"})
    if (asked || varies(*find_column(side), rows)) chosen.push_back(find_column(side));
  const Column* disposition = find_column("disposition");
  if (std::ranges::any_of(rows, [](const Row& row) { return row.status.disposition != "ok"; }) &&
      !empty_everywhere(*disposition, rows))
    chosen.push_back(disposition);
  for (const char* name : key_figures)
    if (const Column* column = find_column(name); !empty_everywhere(*column, rows)) chosen.push_back(column);
  return chosen;
}

std::string paint(const TableColumn& column, const std::string& padded, const std::string& text, bool color) {
  if (!color || column.column->group != Group::status) return padded;
  const char* code = text == "incorrect" || text == "failed" ? "31" : text == "skipped" ? "33" : nullptr;
  return code ? fmt::format("\x1b[{}m{}\x1b[0m", code, padded) : padded;
}

std::string pad(const TableColumn& column, const std::string& text) {
  return column.number ? fmt::format("{:>{}}", text, column.width)
                       : fmt::format("{:<{}}", text, column.width);
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

std::string cut_line(std::string line, size_t width, bool color) {
  const size_t end = line.find_last_not_of(' ');
  line.resize(end == std::string::npos ? 0 : end + 1);
  if (!color && line.size() > width) line.resize(width);
  return line + "\n";
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
  if (std::holds_alternative<std::string*>(field)) return text;
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
  std::vector<TableColumn> columns;
  for (const Column* column : style.columns.empty() ? choose(rows) : style.columns)
    columns.push_back(make(*column, rows));
  const size_t shown = fitting(columns, style.width);
  std::string result, header;
  for (size_t i = 0; i < shown; ++i) header += (i ? "  " : "") + pad(columns[i], columns[i].title);
  const std::string title = cut_line(header, style.width, false);
  result += style.color ? fmt::format("\x1b[1m{}\x1b[0m\n", title.substr(0, title.size() - 1)) : title;
  for (size_t r = 0; r < rows.size(); ++r) {
    std::string line;
    for (size_t i = 0; i < shown; ++i)
      line += (i ? "  " : "") +
              paint(columns[i], pad(columns[i], columns[i].cells[r]), columns[i].cells[r], style.color);
    result += cut_line(line, style.width, style.color);
  }
  result += reasons(rows, style.width);
  const size_t hidden = (style.columns.empty() ? schema().size() : style.columns.size()) - shown;
  if (hidden > 0)
    result += wrap_text(
        fmt::format("{} columns hidden: --columns NAMES shows others, -o FILE.csv keeps all", hidden),
        style.width, "");
  return result;
}

}  // namespace attnprof
