#include "report/csv.hpp"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "error.hpp"

namespace attnprof {
namespace {

// libcsv's parser with the record in hand; fed line by line so that the place of every record is known.
class Parser {
 public:
  Parser() {
    csv_init(&parser_, CSV_STRICT);
    csv_set_space_func(&parser_, [](unsigned char) { return 0; });  // spaces belong to a field
  }
  ~Parser() { csv_free(&parser_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  void feed(std::string_view line, size_t number, size_t offset, std::string_view file) {
    line_ = number;
    offset_ = offset;
    const size_t parsed = csv_parse(&parser_, line.data(), line.size(), on_field, on_record, this);
    if (parsed != line.size())
      throw UsageError(
          fmt::format("{}, line {}: a quote stands where none may; quote the whole field and double "
                      "quotes inside it",
                      file, number));
  }
  bool in_record() const { return !current_.fields.empty() || parser_.pstate != 0; }
  const CsvRecord& current() const { return current_; }
  std::vector<CsvRecord> take() { return std::move(records_); }
  void begin_if_idle(size_t line, size_t offset) {
    if (in_record()) return;
    current_.line = line;
    current_.offset = offset;
  }

 private:
  static void on_field(void* text, size_t size, void* self) {
    static_cast<Parser*>(self)->current_.fields.emplace_back(static_cast<const char*>(text), size);
  }
  static void on_record(int, void* self) {
    auto& parser = *static_cast<Parser*>(self);
    parser.records_.push_back(std::move(parser.current_));
    parser.current_ = {.line = parser.line_, .offset = parser.offset_, .fields = {}};
  }

  csv_parser parser_{};
  size_t line_ = 0, offset_ = 0;
  CsvRecord current_;
  std::vector<CsvRecord> records_;
};

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

CsvText parse_csv(std::string_view text, std::string_view file) {
  size_t offset = text.size() - without_byte_order_mark(text).size();
  Parser parser;
  for (size_t line = 1; offset < text.size(); ++line) {
    const size_t newline = text.find('\n', offset);
    const size_t end = newline == std::string_view::npos ? text.size() : newline + 1;
    parser.begin_if_idle(line, offset);
    parser.feed(text.substr(offset, end - offset), line, offset, file);
    offset = end;
  }
  CsvText result;
  if (parser.in_record()) result.torn = TornRecord{parser.current().line, parser.current().offset};
  result.records = parser.take();
  return result;
}

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

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted(2 * text.size() + 2, '\0');
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  return quoted;
}

std::string csv_record(std::span<const std::string> fields) {
  std::vector<std::string> quoted;
  for (const std::string& field : fields) quoted.push_back(csv_field(field));
  return fmt::format("{}\n", fmt::join(quoted, ","));
}

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

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  return text.starts_with(mark) ? text.substr(mark.size()) : text;
}

std::string read_text_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream text;
  if (std::filesystem::is_directory(path) || !stream || !(text << stream.rdbuf()).good())
    if (std::error_code error; std::filesystem::file_size(path, error) != 0 || error)
      throw UsageError(fmt::format("{} cannot be read: give an existing, readable file", path));
  return text.str();
}

}  // namespace attnprof
