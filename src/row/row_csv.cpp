#include "row/row_csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"

namespace attnprof {
namespace {

// Schema columns of a header; null where the column is unknown.
std::vector<const Column*> columns_of(const CsvRecord& header, std::string_view file) {
  std::vector<const Column*> columns;
  for (const std::string& name : header.fields) {
    if (std::ranges::count(header.fields, name) > 1)
      throw UsageError(fmt::format("{}, line {}: column {} stands twice; keep one", file, header.line, name));
    columns.push_back(find_column(name));
  }
  for (const Column& column : schema())
    if (column.group == Group::identity && std::ranges::find(columns, &column) == columns.end())
      throw UsageError(fmt::format("{}: column {} is missing; this is no attnprof CSV", file, column.name));
  return columns;
}

Row row_of(const CsvRecord& record, const std::vector<const Column*>& columns, std::string_view file) {
  if (record.fields.size() != columns.size())
    throw UsageError(fmt::format("{}, line {}: {} fields where the header has {}", file, record.line,
                                 record.fields.size(), columns.size()));
  Row row;
  try {
    for (size_t i = 0; i < columns.size(); ++i)
      if (columns[i]) set_cell(*columns[i], row, record.fields[i]);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}, line {}: {}", file, record.line, error.what()));
  }
  return row;
}

}  // namespace

RowFile parse_rows(std::string_view text, std::string_view file) {
  const CsvText csv = parse_csv(text, file);
  RowFile result;
  result.torn = csv.torn;
  if (csv.records.empty()) return result;
  result.header = csv.records.front().fields;
  const std::vector<const Column*> columns = columns_of(csv.records.front(), file);
  for (size_t i = 1; i < csv.records.size(); ++i) {
    result.rows.push_back(row_of(csv.records[i], columns, file));
    result.lines.push_back(csv.records[i].line);
  }
  return result;
}

RowFile read_rows(const std::string& path) { return parse_rows(read_text_file(path), path); }

std::vector<const Column*> all_columns() {
  std::vector<const Column*> columns;
  for (const Column& column : schema()) columns.push_back(&column);
  return columns;
}

std::string csv_header(std::span<const Column* const> columns) {
  std::vector<std::string> names;
  for (const Column* column : columns) names.emplace_back(column->name);
  return csv_record(names);
}

std::string csv_row(std::span<const Column* const> columns, const Row& row) {
  std::vector<std::string> cells;
  for (const Column* column : columns) cells.push_back(cell(*column, row));
  return csv_record(cells);
}

}  // namespace attnprof
