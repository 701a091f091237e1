#include "row/row_csv.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/csv_header.hpp"
#include "base/error.hpp"
#include "row/identity_cells.hpp"
#include "row/row_rules.hpp"

namespace attnprof {
namespace {

// Takes a file record by record.
class RowReader {
 public:
  RowReader(RowFile& result, std::string_view file) : result_(result), file_(file) {}

  void take(const RecordView& record) {
    if (header_.empty()) return take_header(record);
    header_.check(record);
    rules_.check(record);
    Row row;
    for (size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i]) set_cell(*columns_[i], row, record.fields[i]);
    for (size_t i = 0; i < identity_.size(); ++i)  // those that the file lacks too
      set_cell(*identity_columns_[i], row, identity_.text(record, i));
    result_.rows.push_back(std::move(row));
    result_.lines.push_back(record.line);
  }

 private:
  void take_header(const RecordView& record) {
    header_ = CsvHeader(record.fields, record.line, file_);
    rules_ = RowRules(header_);
    result_.header = header_.names();
    for (const std::string& name : result_.header) columns_.push_back(find_column(name));
    identity_columns_ = identity_columns();
    identity_ = IdentityCells(header_, identity_names(), Absence::filled, [&](const std::string& name) {
      throw UsageError(fmt::format("{}: column {} is missing; this is no attnprof CSV", file_, name));
    });
  }

  RowFile& result_;
  std::string file_;
  CsvHeader header_;
  RowRules rules_;
  std::vector<const Column*> columns_;  // of the header; null where one is unknown
  std::vector<const Column*> identity_columns_;
  IdentityCells identity_;
};

}  // namespace

RowFile parse_rows(std::string_view text, std::string_view file) {
  RowFile result;
  RowReader reader(result, file);
  result.torn = for_each_record(text, file, [&](const RecordView& record) { reader.take(record); });
  return result;
}

std::vector<std::string> parse_header(std::string_view text, std::string_view file) {
  const size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return {};
  const CsvText csv = parse_csv(text.substr(0, end + 1), file);
  return csv.records.empty() ? std::vector<std::string>{} : csv.records.front().fields;
}

RowFile read_rows(const std::string& path) { return parse_rows(read_text_file(path), path); }

std::vector<const Column*> all_columns() {
  std::vector<const Column*> columns;
  for (const Column& column : schema()) columns.push_back(&column);
  return columns;
}

std::optional<std::vector<const Column*>> columns_of_file(std::span<const std::string> header) {
  std::vector<const Column*> columns;
  for (const Column* column : all_columns()) {
    const bool there = std::ranges::find(header, column->name) != header.end();
    const ProblemField* field = column->problem_field();
    if (there)
      columns.push_back(column);
    else if (!field || field->first_schema)
      return std::nullopt;
  }
  const bool same = std::ranges::equal(header, columns, {}, {}, &Column::name);
  return same ? std::optional(columns) : std::nullopt;
}

std::vector<std::string> identity_texts(const Row& row) {
  std::vector<std::string> texts;
  for (const Column* column : identity_columns()) {
    if (!tells(*column, row)) continue;
    const ProblemField* field = column->problem_field();
    const std::string text = cell(*column, row);
    texts.push_back(field && !field->first_schema ? fmt::format("{}={}", field->name, text) : text);
  }
  return texts;
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
