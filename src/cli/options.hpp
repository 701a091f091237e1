// What the command line asks for, as plain data. options*.cpp and config_file.cpp are the only files that
// know CLI11.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gate/gate.hpp"
#include "measure/open_backend.hpp"
#include "plan/sweep.hpp"
#include "report/output_file.hpp"

namespace attnprof {

enum class Format { table, csv, json, markdown };

// Files that a gate writes; empty: not written.
struct GateOutputs {
  std::string markdown, junit, json;
};

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
  std::string gate;      // baseline to hold the run against; empty: none
  int gate_retries = 2;  // times ambiguous cases are measured again
  GateOptions gate_options;
  GateOutputs gate_outputs;
};

struct TuneCommand {
  SweepAxes axes;  // problems; tiles and knobs where given, else the variants' candidates
  MeasureOptions measure;
  DeviceChoice device;
  std::string output;  // empty: nothing is written
  Existing existing = Existing::refuse;
  bool keep_spills = false;  // measure kernels that spill too
  bool compile = true;       // ask the compiler before anything runs
  Format format = Format::table;
  std::string command_line;
};

struct GateCommand {
  std::string baseline, current;
  GateOptions options;
  GateOutputs outputs;
};

struct BaselineCommand {
  std::string baseline, current;
  GateOptions options;
  bool accept_regressions = false;
};

struct ListOptions {
  DeviceChoice device;
  std::vector<int64_t> head_dims = {64, 128};
  std::vector<Dtype> dtypes = {Dtype::fp16};
  bool columns = false;  // the row schema instead of the variants
  bool rules = false;    // or what cases are verified and timed by
  Format format = Format::table;
};

struct CompileCommand {
  SweepAxes axes;
  std::vector<std::string> archs;
  MeasureOptions measure;  // kernels_dir, cache_dir
  int jobs = 0;            // 0: one less than there are cores
  std::string output;
  bool overwrite = false;
  Format format = Format::table;
};

enum class RooflineFormat { csv, json, vega_lite, gnuplot };

struct RooflineCommand {
  std::vector<std::string> files;
  RooflineFormat format = RooflineFormat::csv;
  bool plot = false;   // draw on standard output
  std::string output;  // empty: the data goes to standard output, with --plot nowhere
  bool overwrite = false;
};

struct ExplainCommand {
  std::vector<std::string> files;
  std::vector<std::string> cases;  // selectors (explain/selector.hpp); none: every row
  std::string against;             // variant; empty: none
  std::vector<TileRequest> tiles;  // predicted beside the neighbours of a row's own
  Format format = Format::table;   // table or json
  std::string output;              // empty: standard output
  bool overwrite = false;
};

struct PublishedCommand {
  std::vector<std::string> files;
  Format format = Format::table;
};

struct CeilingsCommand {
  MeasureOptions measure;  // device, kernels_dir, cache_dir
  Format format = Format::table;
  std::string output;
  bool overwrite = false;
};

// attnprof trace ... -- PROGRAM ARGUMENTS
struct TraceCommand {
  std::string kernel, range;  // POSIX extended regular expressions; empty: every one
  int limit = 0;              // launches of one kernel and configuration a process that are counted; 0: all
  bool per_name = false;      // a row a kernel and configuration instead of a row a launch
  std::string output;
  Existing existing = Existing::refuse;
  std::vector<std::string> target;  // program and arguments
  std::string command_line;
};

struct DoctorCommand {
  bool json = false;
  bool self_test = false;
  std::string output;
  MeasureOptions measure;  // device, kernels_dir, cache_dir
};

// Started by the gpu backend, never by a person: measures the cases it is sent.
struct WorkerCommand {};

// Started to ask a plug-in, never by a person.
struct PluginHostCommand {};

// new-variant: an example to start from.
struct NewVariantCommand {
  std::string name;
  std::string folder = ".";
  std::string kernels_dir;  // empty: found
};

// --help and --version.
struct ShowText {
  std::string text;
};

using Command =
    std::variant<ShowText, SweepOptions, TuneCommand, ListOptions, CompileCommand, DoctorCommand, GateCommand,
                 BaselineCommand, RooflineCommand, ExplainCommand, PublishedCommand, CeilingsCommand,
                 TraceCommand, WorkerCommand, PluginHostCommand, NewVariantCommand>;

// `args`: without the program's name. Throws UsageError, one sentence, for everything that is wrong with
// them.
Command parse_command_line(const std::vector<std::string>& args);

}  // namespace attnprof
