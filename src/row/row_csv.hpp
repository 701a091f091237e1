// Rows as CSV: columns are found by name, and written in the schema's order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/csv.hpp"
#include "row/row.hpp"
#include "row/schema.hpp"

namespace attnprof {

// Rows of a file, in its order; `lines[i]` is where `rows[i]` starts.
struct RowFile {
  std::vector<std::string> header;
  std::vector<Row> rows;
  std::vector<size_t> lines;
  std::optional<TornRecord> torn;
};

// Finds columns by name: any order, unknown ones ignored, absent ones empty, but of the identity what the
// absence of a problem's field means. Throws UsageError with file and line when an identity column is
// missing, a column stands twice, a record has another number of fields than the header, or a number is none.
RowFile parse_rows(std::string_view text, std::string_view file);
RowFile read_rows(const std::string& path);
// The names of a file's columns; none where it has no whole line.
std::vector<std::string> parse_header(std::string_view text, std::string_view file);

std::vector<const Column*> all_columns();
// What is written to a file with this header: all columns but those of problem fields that it is older than.
// Nothing where it has other columns.
std::optional<std::vector<const Column*>> columns_of_file(std::span<const std::string> header);
// What names a row: cells of the identity, of later fields of the problem as "window=128" and only where they
// tell something.
std::vector<std::string> identity_texts(const Row& row);
std::string csv_header(std::span<const Column* const> columns);
std::string csv_row(std::span<const Column* const> columns, const Row& row);

}  // namespace attnprof
