// The files of commands whose rows are kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "files/build_meta.hpp"

namespace attnprof {

// `lines`, of which the first holds the titles, as a CSV, and beside it what describes the run; not beside a
// pipe or device. Throws EnvironmentError where they cannot be written.
void write_build_rows(const std::string& path, const std::vector<std::vector<std::string>>& lines,
                      const BuildRun& run);

// Of columns with a `text(row)`: their titles, then a line a row.
template <class Row, class Column>
std::vector<std::vector<std::string>> column_lines(const std::vector<Row>& rows,
                                                   const std::vector<Column>& columns,
                                                   std::string Column::*title = &Column::name) {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].push_back(column.*title);
  for (const Row& row : rows) {
    lines.emplace_back();
    for (const Column& column : columns) lines.back().push_back(column.text(row));
  }
  return lines;
}

// The positions of columns that are a `number`, for JSON.
template <class Column>
std::vector<size_t> number_columns(const std::vector<Column>& columns) {
  std::vector<size_t> numbers;
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].number) numbers.push_back(i);
  return numbers;
}

}  // namespace attnprof
