// What `attnprof sweep` is asked for, and its --dry-run.
#pragma once

#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/output_file.hpp"
#include "cli/flags/format.hpp"
#include "gate/gate.hpp"
#include "gate/gate_output.hpp"
#include "plan/sweep.hpp"
#include "run/open_backend.hpp"

namespace attnprof {

struct SweepOptions {
  SweepAxes axes;
  MeasureOptions measure;
  DeviceChoice device;
  std::string output;  // empty: nothing is written
  Existing existing = Existing::refuse;
  bool dry_run = false;
  Format format = Format::table;
  std::vector<std::string> columns;  // empty: chosen by the table; all for csv and json
  std::string command_line;
  std::vector<std::string> option_files;  // that options were read from
  std::string gate;                       // baseline to hold the run against; empty: none
  int gate_retries = 2;                   // times ambiguous cases are measured again
  GateOptions gate_options;
  GateOutputs gate_outputs;
};

// Prints the plan and runs nothing.
ExitCode dry_run(const SweepOptions& options, const BackendOpener& open);

}  // namespace attnprof
