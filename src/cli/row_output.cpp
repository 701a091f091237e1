#include "cli/row_output.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "base/terminal_color.hpp"
#include "base/text_table.hpp"
#include "report/table.hpp"
#include "row/row_csv.hpp"
#include "row/row_json.hpp"

namespace attnprof {
namespace {

std::vector<const Column*> columns_named(const std::vector<std::string>& names) {
  if (std::ranges::find(names, "all") != names.end()) return all_columns();
  std::vector<const Column*> columns;
  for (const std::string& name : names) columns.push_back(find_column(name));
  return columns;
}

}  // namespace

RowOutput::RowOutput(Format format, const std::vector<std::string>& columns, bool kept)
    : format_(format), kept_(kept), columns_(columns_named(columns)) {
  if (columns_.empty() && format_ != Format::table) columns_ = all_columns();
  if (format_ == Format::csv) print(csv_header(columns_));
}

void RowOutput::end_case(const Row& row) {
  if (format_ != Format::csv) return rows_.push_back(row);
  print(csv_row(columns_, row));
  if (!standard_output_arrived() && !kept_) throw EnvironmentError(standard_output_lost);
}

void RowOutput::replace(size_t index, const Row& row) {
  if (format_ == Format::csv)
    end_case(row);
  else
    rows_[index] = row;
}

void RowOutput::finish() {
  if (format_ == Format::table)
    print(
        format_table(rows_, {.width = terminal_width(), .color = wants_color(stdout), .columns = columns_}));
  if (format_ == Format::json) print(rows_as_json(rows_, columns_));
  standard_output_arrived();  // flushes; whoever runs the command asks
}

}  // namespace attnprof
