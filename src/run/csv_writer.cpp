#include "run/csv_writer.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "row/row_csv.hpp"

namespace attnprof {

CsvWriter::CsvWriter(OutputFile& file) : file_(file) {
  const std::string text = file_.text();
  const auto columns = text.empty() ? all_columns() : columns_of_file(parse_header(text, file_.path()));
  if (!columns)
    throw UsageError(fmt::format(
        "{} has other columns than this attnprof writes; give another -o or --overwrite", file_.path()));
  columns_ = *columns;
  if (text.empty()) file_.write(csv_header(columns_));
}

std::string CsvWriter::line(const Row& row) const { return csv_row(columns_, row); }

void CsvWriter::end_case(const Row& row) { file_.write(line(row)); }

}  // namespace attnprof
