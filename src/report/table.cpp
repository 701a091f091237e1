#include "report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "base/safe_text.hpp"
#include "base/terminal_color.hpp"
#include "base/text_table.hpp"
#include "base/units.hpp"
#include "report/column_unit.hpp"

namespace attnprof {
namespace {

struct KeyFigure {
  const char* column;
  const char* title;
  int rank;  // where the width ends, those of the highest rank are hidden
};

// Figures a person looks at first: what time and bytes were, what they went to, and whether they can be
// trusted.
constexpr KeyFigure key_figures[] = {
    {"latency_median_ns", "latency", 1},
    {"useful_tflops_per_s", "rate", 2},
    {"hbm_bytes", "HBM", 6},
    {"sm_bytes", "SM", 7},
    {"roof_pct", "roof", 8},
    {"bound", "bound", 3},
    {"verified", "verified", 4},
    {"flags", "flags", 5},
    {"hbm_intensity", "FLOP/HBM B", 9},
    {"sm_intensity", "FLOP/SM B", 10},
    {"mfu_pct", "MFU", 11},
    {"model_hbm_bytes", "HBM model", 12},
    {"io_lower_bound_bytes", "HBM bound", 13},
    {"workspace_bytes", "workspace", 14},
};
constexpr int least_wanted = 8;  // up to this rank they are worth narrow gaps

struct TableColumn {
  std::string title, unit;  // the head
  std::vector<std::string> cells;
  size_t width = 0;
  bool right = false;   // numbers
  bool status = false;  // painted
  size_t schema_columns = 1;
  int rank = 0;  // 0: what says which row it is
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

Real number_in(const Column& column, const Row& row) {
  const Field field = column.field(const_cast<Row&>(row));
  if (const auto* count = std::get_if<Count*>(&field))
    return **count ? Real(static_cast<double>(***count)) : std::nullopt;
  const auto* real = std::get_if<Real*>(&field);
  return real ? **real : std::nullopt;
}

// Numbers in one unit, which stands in the head.
TableColumn make_figure(const KeyFigure& figure, const std::vector<Row>& rows) {
  const Column& column = *find_column(figure.column);
  TableColumn result = make(figure.column, figure.title, rows);
  result.rank = figure.rank;
  if (empty_everywhere(column, rows)) result.schema_columns = 0;
  double largest = 0;
  for (const Row& row : rows) largest = std::max(largest, std::abs(number_in(column, row).value_or(0)));
  const ColumnUnit unit = column_unit(column, largest);
  result.unit = unit.name;
  for (size_t i = 0; i < rows.size(); ++i)
    if (const Real number = number_in(column, rows[i])) result.cells[i] = in_unit(*number, unit);
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
  for (const KeyFigure& figure : key_figures)  // that no row has a flag is worth seeing
    if (std::string_view(figure.column) == "flags" || !empty_everywhere(*find_column(figure.column), rows))
      chosen.push_back(make_figure(figure, rows));
  return chosen;
}

std::vector<TableColumn> columns_of(const std::vector<Row>& rows, const TableStyle& style) {
  std::vector<TableColumn> columns;
  for (const Column* column : style.columns)
    columns.push_back(make(column->name, std::string(column->name), rows));
  if (columns.empty()) columns = choose(rows);
  for (TableColumn& column : columns) {
    column.width = std::max(column.title.size(), column.unit.size());
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

struct Layout {
  std::vector<const TableColumn*> columns;  // shown, in order
  size_t gap;
};

// As many columns as the width takes, those of the lowest rank; at least the first. Of what says which row it
// is none is left out between others.
Layout fitting(const std::vector<TableColumn>& columns, size_t width, size_t gap) {
  std::vector<const TableColumn*> by_rank, shown;
  for (const TableColumn& column : columns) by_rank.push_back(&column);
  std::ranges::stable_sort(by_rank, {}, &TableColumn::rank);
  size_t used = 0;
  for (const TableColumn* column : by_rank) {
    const size_t more = column->width + (shown.empty() ? 0 : gap);
    if (!shown.empty() && used + more > width) {
      if (column->rank == 0) break;
      continue;
    }
    used += more;
    shown.push_back(column);
  }
  std::ranges::sort(shown);  // all are of one array
  return {shown, gap};
}

// Narrow gaps where they make room for a figure that is wanted.
Layout layout(const std::vector<TableColumn>& columns, size_t width) {
  const Layout wide = fitting(columns, width, 2);
  const bool all_wanted = std::ranges::all_of(columns, [&](const TableColumn& column) {
    return column.rank > least_wanted || std::ranges::find(wide.columns, &column) != wide.columns.end();
  });
  return all_wanted ? wide : fitting(columns, width, 1);
}

std::string without_end_spaces(std::string line) {
  const size_t end = line.find_last_not_of(' ');
  line.resize(end == std::string::npos ? 0 : end + 1);
  return line;
}

template <class Text>
std::string line_of(const Layout& shown, Text text) {
  std::string line;
  for (const TableColumn* column : shown.columns)
    line += (line.empty() ? "" : std::string(shown.gap, ' ')) + text(*column);
  return without_end_spaces(line) + "\n";
}

// Titles, and under them the units where there are any.
std::string head(const Layout& shown, bool color) {
  const auto tone = [&](std::string line) {
    line.pop_back();
    return toned(Tone::strong, line, color) + "\n";
  };
  std::string text =
      tone(line_of(shown, [](const TableColumn& column) { return pad(column, column.title); }));
  if (std::ranges::any_of(shown.columns, [](const TableColumn* column) { return !column->unit.empty(); }))
    text += tone(line_of(shown, [](const TableColumn& column) { return pad(column, column.unit); }));
  return text;
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
  const Layout shown =
      style.columns.empty() ? layout(columns, style.width) : fitting(columns, style.width, 2);
  std::string result = head(shown, style.color);
  for (size_t r = 0; r < rows.size(); ++r)
    result += line_of(shown, [&](const TableColumn& column) {
      return paint(column, pad(column, column.cells[r]), column.cells[r], style.color);
    });
  result += reasons(rows, style.width);
  size_t hidden = style.columns.empty() ? told_columns(rows) : style.columns.size();
  for (const TableColumn* column : shown.columns) hidden -= column->schema_columns;
  if (hidden > 0)
    result += wrap_text(
        fmt::format("{} columns hidden: --columns NAMES shows others, -o FILE.csv keeps all", hidden),
        style.width, "");
  return result;
}

}  // namespace attnprof
