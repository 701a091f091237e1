// The straight line: plan -> model -> prepare -> verify -> time -> count -> row.
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/error.hpp"
#include "measure/backend.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// Told of every case before it runs and of every row when it is finished: CSV writer, table, progress.
class SweepObserver {
 public:
  virtual ~SweepObserver() = default;
  virtual void begin_case(const Case&, size_t /*index*/, size_t /*total*/) {}
  virtual void end_case(const Row&) {}
  // The row at this position was measured again.
  virtual void replace(size_t /*index*/, const Row&) {}
  // No row follows, because the run has ended or an error ended it.
  virtual void finish() {}
};

struct SweepRun {
  Provenance provenance;  // the same for every row of the run
  MeasureOptions options;
  std::vector<SweepObserver*> observers;
  const std::atomic<bool>* stop = nullptr;  // set by SIGINT: finish the case in hand, keep what was measured
};

// Measures every case, in order; a case that cannot run or fails becomes a row that says so. Returns the
// sweep's exit code: failed when a case is incorrect or failed, environment when every case was skipped.
ExitCode run_sweep(const std::vector<Case>& cases, Backend& backend, const SweepRun& run);

}  // namespace attnprof
