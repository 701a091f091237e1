// The runs of a tuning: a quick pass over all candidates and a precise one over those it leaves open.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "measure/backend.hpp"
#include "row/row.hpp"
#include "run/run_file.hpp"
#include "tune/contest.hpp"

namespace attnprof {

struct TuneResult {
  std::vector<std::vector<Row>> rows;  // by contest, in the order of its cases; interrupted: fewer
  ExitCode code = ExitCode::ok;
};

// A pass is a run of its own, so that no run has a case twice. Interrupted by SIGINT while this lives.
class TunePasses {
 public:
  // `file` keeps every row of every pass; null: nothing does.
  TunePasses(const std::string& command_line, const MeasureOptions& options, RunFile* file)
      : command_line_(command_line), options_(options), file_(file) {}

  // One pass, for what has the same latency however often it is asked for.
  TuneResult only(const std::vector<Contest>& contests, Backend& backend);

  // Returns the last pass that has an answer. `open` makes the backend of a pass, when that of the last is
  // gone: one at a time has the device's memory.
  using Open = std::function<std::unique_ptr<Backend>(const MeasureOptions&)>;
  TuneResult quick_then_precise(const std::vector<Contest>& contests, const Open& open);

 private:
  TuneResult measure(const std::vector<std::vector<Case>>& contests, Backend& backend,
                     const MeasureOptions& options, const std::string& name);

  const std::string command_line_;
  const MeasureOptions options_;
  RunFile* file_;
  const InterruptGuard interrupt_;
};

}  // namespace attnprof
