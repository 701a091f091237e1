// Rows on standard output.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/format.hpp"
#include "row/schema.hpp"
#include "run/pipeline.hpp"

namespace attnprof {

// CSV is printed row by row, table and JSON at the end, when all rows are known.
class RowOutput : public SweepObserver {
 public:
  // `columns`: names, "all" among them means every column; empty: the table chooses, CSV and JSON have all.
  // `kept`: the rows go to a file too, so that a standard output that is lost need not end the sweep.
  RowOutput(Format format, const std::vector<std::string>& columns, bool kept);
  // Throws EnvironmentError where the row is lost.
  void end_case(const Row& row) override;
  // CSV, printed already, gets the new row at its end.
  void replace(size_t index, const Row& row) override;
  void finish() override;

 private:
  Format format_;
  bool kept_;
  std::vector<const Column*> columns_;
  std::vector<Row> rows_;
};

}  // namespace attnprof
