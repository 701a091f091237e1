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

// Finds columns by name: any order, unknown ones ignored, absent ones empty. Throws UsageError with file and
// line when an identity column is missing, a column stands twice, a record has another number of fields than
// the header, or a number is none.
RowFile parse_rows(std::string_view text, std::string_view file);
RowFile read_rows(const std::string& path);

std::vector<const Column*> all_columns();
std::string csv_header(std::span<const Column* const> columns);
std::string csv_row(std::span<const Column* const> columns, const Row& row);

}  // namespace attnprof
