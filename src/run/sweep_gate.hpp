// The gate while measuring (sweep --gate): the rows of a run against a baseline, the ambiguous ones measured
// again.
#pragma once

#include <cstdio>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "gate/gate.hpp"
#include "gate/gate_output.hpp"
#include "gate/table.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

struct SweepGateOptions {
  std::string baseline;
  std::string current;  // the file of this run, or what to call it
  int retries = 0;      // times ambiguous cases are measured again
  GateOptions gate;
  GateOutputs outputs;
};

class SweepGate {
 public:
  // Reads the baseline, so that a malformed one is known before anything is measured. Throws UsageError.
  explicit SweepGate(SweepGateOptions options);

  // Before anything is measured: throws EnvironmentError when this environment cannot be held against the
  // baseline's, or when no case of the plan is in it.
  void check_plan(const std::vector<Case>& cases, const Provenance& provenance,
                  const std::string& meta) const;

  // Measures the row of this index again, in place; false when the run was interrupted.
  using Remeasure = std::function<bool(size_t index)>;
  // Measures ambiguous rows again, up to the number of times asked for; false when interrupted. `rows`: of
  // this run, changed by `remeasure` in place; `meta`: text that describes it. What cannot be gated is left
  // to `show`.
  bool settle(const std::vector<Row>& rows, const std::string& meta, const Remeasure& remeasure) const;
  // Prints to `stream` and writes the outcome; returns the gate's exit code.
  ExitCode show(const std::vector<Row>& rows, const std::string& meta, FILE* stream) const;

 private:
  Table table_of(const std::vector<Row>& rows) const;
  // Hands `use` the gate's result on the rows.
  template <class Use>
  auto outcome(const std::vector<Row>& rows, const std::string& meta, Use use) const;
  std::set<size_t> ambiguous(const std::vector<Row>& rows, const std::string& meta) const;

  const SweepGateOptions options_;
  Table baseline_;
  std::optional<std::string> baseline_meta_;
};

}  // namespace attnprof
