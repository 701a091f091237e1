// Writes every row to the output file as soon as it is finished.
#pragma once

#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "row/schema.hpp"
#include "run/pipeline.hpp"

namespace attnprof {

class CsvWriter : public SweepObserver {
 public:
  // Writes the header when the file is empty; else keeps to the file's. Throws UsageError where that is none
  // of ours.
  explicit CsvWriter(OutputFile& file);
  void end_case(const Row& row) override;
  std::string line(const Row& row) const;  // as it is written

 private:
  OutputFile& file_;
  std::vector<const Column*> columns_;
};

}  // namespace attnprof
