// Writes every row to the output file as soon as it is finished.
#pragma once

#include "base/output_file.hpp"
#include "run/pipeline.hpp"

namespace attnprof {

class CsvWriter : public SweepObserver {
 public:
  // Writes the header when the file is empty.
  explicit CsvWriter(OutputFile& file);
  void end_case(const Row& row) override;

 private:
  OutputFile& file_;
};

}  // namespace attnprof
