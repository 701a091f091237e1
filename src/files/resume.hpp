// What may be added to a file that is already there. Both functions only look: a refusal leaves it untouched.
#pragma once

#include <string>
#include <vector>

#include "measure/backend.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// The last run of a file, as far as it got.
struct Resumption {
  std::string run;        // empty: the file holds no row yet
  std::vector<Row> done;  // its finished rows: those of the plan's first cases
  size_t keep_bytes = 0;  // the file up to here is whole; what follows was torn when the run was killed
  size_t torn_line = 0;   // its line, 0 when nothing is torn
};

// Throws UsageError when the file cannot take rows of another run: its columns are others, or its last line
// is torn.
void check_append(const std::string& csv_text, const std::string& path);

// What is to be said where runs of the file are by another attnprof; empty where none is.
std::string notice_of_append(const std::string& meta_text, const std::string& path);

// Throws UsageError where a case needs the column of a field of the problem that the file is older than.
void check_columns(const std::string& csv_text, const std::string& path, const std::vector<Case>& cases);

// Throws UsageError when the last run of `csv_text` was made by another attnprof, from another plan, in
// another environment or with other kernels. `meta_text`: the file's .meta.json, empty when there is none. To
// compare kernels, `backend` prepares one finished case for every kernel hash of the run.
Resumption check_resume(const std::string& csv_text, const std::string& meta_text, const std::string& path,
                        const std::vector<Case>& cases, const MeasureOptions& options, Backend& backend);

}  // namespace attnprof
