// The CSV that keeps the rows of runs, with FILE.meta.json beside it: whichever command makes them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/output_file.hpp"
#include "files/meta.hpp"
#include "measure/backend.hpp"
#include "run/csv_writer.hpp"

namespace attnprof {

class RunFile {
 public:
  // Opened and checked before anything runs; nothing of it changes before `begin`. Throws UsageError,
  // EnvironmentError.
  RunFile(const std::string& path, Existing existing, Resumable resumable = Resumable::no);
  // One that was made for nothing must not stand in the next command's way.
  ~RunFile();
  RunFile(const RunFile&) = delete;
  RunFile& operator=(const RunFile&) = delete;

  const std::string& path() const { return file_.path(); }

  // Throws UsageError where one of the cases has a value of a field of the problem that the file, which is
  // older, has no column for. Of a run whose rows the file is to take, before it is measured.
  void check_columns(const std::vector<Case>& cases) const;

  // To go on with the file's last run: returns its rows, which are those of the first of `cases`, and gives
  // `facts` its name. None of a file without rows, or where it was not asked for. Throws UsageError when that
  // run was another.
  std::vector<Row> resume(const std::vector<Case>& cases, Backend& backend, RunFacts& facts);

  // Begins a run, or goes on with one: what describes it is written before its rows, so that where that fails
  // the file keeps those it has. Returns who writes each row as it is finished.
  SweepObserver& begin(const RunFacts& facts, const BackendInfo& info);

  // The rows of the run that was begun last anew: that of `index` was measured again. What was written
  // through is followed by it.
  void rewrite(const std::vector<Row>& rows, size_t index);

 private:
  bool existed_, resumes_, begun_ = false;
  OutputFile file_;
  std::string meta_;           // of the runs it keeps
  std::optional<size_t> cut_;  // where what it does not keep begins
  std::optional<CsvWriter> writer_;
};

}  // namespace attnprof
