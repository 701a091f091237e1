#include "run/csv_writer.hpp"

#include "row/row_csv.hpp"

namespace attnprof {

CsvWriter::CsvWriter(OutputFile& file) : file_(file) {
  if (file_.text().empty()) file_.write(csv_header(all_columns()));
}

void CsvWriter::end_case(const Row& row) { file_.write(csv_row(all_columns(), row)); }

}  // namespace attnprof
