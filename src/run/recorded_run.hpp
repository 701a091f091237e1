// One run: cases measured in order, watched on standard error, their rows kept and, where there is one, in a
// file.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "files/meta.hpp"
#include "measure/backend.hpp"
#include "run/pipeline.hpp"
#include "run/progress.hpp"
#include "run/run_file.hpp"

namespace attnprof {

class SweepGate;

// What names and describes a run of these cases that begins now.
RunFacts new_run(const std::string& command_line, const MeasureOptions& options,
                 const std::vector<Case>& cases);
// What every row of the run says of it.
Provenance provenance_of(const RunFacts& facts, const BackendInfo& info);
// The text that describes this run alone, as its .meta.json would.
std::string meta_of_run(const RunFacts& facts, const BackendInfo& info);

class RecordedRun {
 public:
  // Begins the run in `file`; null: no file keeps it. `done`: rows that an earlier part of the run has, of
  // the first cases. `stop`: set to finish the case in hand and leave the rest.
  RecordedRun(Backend& backend, const RunFacts& facts, RunFile* file, const std::atomic<bool>& stop,
              std::vector<Row> done = {});

  // Tells `observer` of all rows, those that are done first.
  void show_on(SweepObserver& observer);

  // Measures the cases that are not done, and again those that `gate`, where there is one, cannot tell.
  // Returns the exit code of the whole run. An error that ends it is thrown on after all that is known has
  // been shown.
  ExitCode measure(const std::vector<Case>& cases, const SweepGate* gate = nullptr);

  const std::vector<Row>& rows() const { return rows_; }

 private:
  ExitCode measure_what_is_left(const std::vector<Case>& cases);
  ExitCode settled(ExitCode code, const std::vector<Case>& cases, const SweepGate& gate);
  bool measure_again(const Case& c, size_t index);  // false: interrupted
  void finish();

  Backend& backend_;
  const RunFacts facts_;
  RunFile* file_;
  size_t notices_said_;
  std::vector<Row> rows_;  // of the whole run, an earlier part's first
  Progress progress_;
  std::vector<SweepObserver*> shown_on_;
  SweepRun run_;
};

}  // namespace attnprof
