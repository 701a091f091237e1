// `attnprof trace`: kernels of any program as rows.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/distinct_files.hpp"
#include "base/error.hpp"
#include "base/scratch.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/run_file.hpp"
#include "cli/flags/values.hpp"
#include "cli/inputs.hpp"
#include "files/meta.hpp"
#if ATTNPROF_WITH_GPU
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/hash.hpp"
#include "base/standard_streams.hpp"
#include "files/env_id.hpp"
#include "measure/gpu/nvml.hpp"
#include "run/recorded_run.hpp"
#include "trace/pattern.hpp"
#include "trace/target_process.hpp"
#include "trace/trace_library.hpp"
#include "trace/trace_outcome.hpp"
#include "trace/trace_rows.hpp"
#else
#include "cli/without_gpu.hpp"
#endif

namespace attnprof {
namespace {

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

constexpr const char* trace_footer =
    "Counts around every launch of a kernel whose demangled name has a match of --kernel (a POSIX extended\n"
    "expression), within the innermost NVTX push/pop range that has one of --range. A launch is counted in one\n"
    "pass, and launches of a kernel take turns at what does not fit one: 3 to 5 of them for a whole row. A\n"
    "CUDA graph is one launch. Not counted: NCCL's kernels, which wait for each other, and launches while a\n"
    "graph is captured. The program keeps its streams and its exit code. A counted launch waits for the\n"
    "GPU; one that matches nothing costs the host less than a microsecond (0.5 us on one machine).\n"
    "Child processes are traced too.\n\n"
    "Examples:\n"
    "  attnprof trace --kernel 'flash|fmha' -o out.csv -- python train.py\n"
    "  attnprof trace --range '^attention' --per-name -o out.csv -- python train.py\n\n"
    "Exit codes: 0 all well, 2 wrong usage, 3 nothing could be traced, or -o cannot be written; where the\n"
    "program's own is not 0, that one (128 + N where signal N ended it).";

class TraceParser {
 public:
  explicit TraceParser(CLI::App& app);
  // `args`: the whole command line; what stands after its -- is the program to trace.
  TraceCommand options(const Args& args);

 private:
  TraceCommand command_;
  RunFileFlags file_;
  std::string limit_ = "20";
  bool per_kernel_ = false;
};

TraceParser::TraceParser(CLI::App& app) {
  app.footer(trace_footer);
  add_name(app, "--kernel", command_.kernel, "Kernels to count; without it, all", "REGEX");
  add_name(app, "--range", command_.range, "NVTX ranges to count in; without it, anywhere", "REGEX");
  app.add_option("--limit", limit_, "Launches of a kernel and configuration to count, a process; 0: all")
      ->type_name("NUMBER")
      ->default_str(limit_);
  auto* per_kernel = app.add_flag("--per-kernel", per_kernel_, "A row a launch (default)");
  app.add_flag("--per-name", command_.per_name, "A row a kernel and configuration: medians of its launches")
      ->excludes(per_kernel);
  file_
      .add(app, "CSV to write; FILE.meta.json beside it describes the run", "Add a further run to FILE",
           /*resume=*/false)
      ->required();
}

TraceCommand TraceParser::options(const Args& args) {
  const auto separator = std::ranges::find(args, "--");
  if (separator == args.end() || separator + 1 == args.end())
    throw UsageError(
        "trace needs a program to run; give it last, after --: attnprof trace -o FILE -- PROGRAM");
  command_.target.assign(separator + 1, args.end());
  command_.limit = static_cast<int>(whole_number("--limit", limit_, 1'000'000'000));
  command_.output = file_.output();
  command_.existing = file_.existing();
  command_.command_line = command_line_of(args);
  return command_;
}

#if ATTNPROF_WITH_GPU

namespace fs = std::filesystem;

RunFacts facts_of(const TracedRun& run, const TraceCommand& command) {
  MeasureOptions options;
  options.verify = VerifyMode::off;
  options.counters = CounterMode::on;
  return {.run = new_run_id(),
          .command_line = command.command_line,
          .options = options,
          .cases = run.rows.size(),
          .plan_id = hash_text(command.command_line)};
}

void write(RunFile& file, std::vector<TracedRun>& runs, const TraceCommand& command) {
  for (TracedRun& run : runs) {
    const RunFacts facts = facts_of(run, command);
    SweepObserver& writer = file.begin(facts, run.info);
    for (Row& row : run.rows) {
      row.provenance = provenance_of(facts, run.info);
      writer.end_case(row);
    }
  }
}

// Read after the program has ended: nothing of this process touches the GPU.
std::vector<std::pair<std::string, std::string>> settings_of_card(const std::string& bus_id) {
  const Nvml nvml(bus_id);
  std::vector<std::pair<std::string, std::string>> facts;
  if (const auto driver = nvml.driver_version()) facts.emplace_back("driver", *driver);
  if (const auto ecc = nvml.ecc()) facts.emplace_back("ecc", *ecc ? "on" : "off");
  if (const auto mig = nvml.mig()) facts.emplace_back("mig", *mig ? "on" : "off");
  if (const auto watts = nvml.power_limit_w())
    facts.emplace_back("power_limit_w", fmt::format("{:.0f}", *watts));
  return facts;
}

// One process has one of these; the driver would load only one library.
void refuse_other_profiler(const TraceCommand& command) {
  std::vector<const char*> taken = {"CUDA_INJECTION64_PATH"};
  if (!command.range.empty()) taken.push_back("NVTX_INJECTION64_PATH");
  for (const char* name : taken)
    if (const char* value = std::getenv(name); value && *value)
      throw EnvironmentError(
          fmt::format("{} is set already (to {}): another profiler is there, and a process has room for "
                      "one; run attnprof trace without it",
                      name, value));
}

std::vector<std::pair<std::string, std::string>> variables_of(const TraceCommand& command,
                                                              const std::string& library,
                                                              const std::string& folder) {
  std::vector<std::pair<std::string, std::string>> variables = {
      {"CUDA_INJECTION64_PATH", library},
      {trace_folder_variable, folder},
      {trace_kernel_variable, command.kernel},
      {trace_range_variable, command.range},
      {trace_limit_variable, fmt::format("{}", command.limit)}};
  if (!command.range.empty()) variables.emplace_back("NVTX_INJECTION64_PATH", library);
  return variables;
}

// Opened and closed again: nothing of the driver is started for a question.
bool has_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library) dlclose(library);
  return library != nullptr;
}

// Only of a trace of nothing is it asked whether there is a driver.
TraceRequest request_of(const TraceCommand& command, const std::vector<ProcessTrace>& traces) {
  return {command.target.front(), command.kernel, command.range, command.output,
          !traces.empty() || has_driver()};
}

int trace_command(const TraceCommand& command) {
  ignore_broken_pipes();
  const Pattern kernel("--kernel", command.kernel), range("--range", command.range);
  check_distinct(with_meta({command.output}), target_inputs(command.target));
  check_existing(command.output, command.existing);
  refuse_other_profiler(command);
  const std::string library = find_trace_library();
  RunFile file(command.output, command.existing);
  const ScratchDir scratch;  // where traced processes write, for nobody else to read
  const std::string folder = scratch.path().string();
  const int code = run_target(command.target, variables_of(command, library, folder));
  const std::vector<ProcessTrace> traces = read_traces(folder);
  std::vector<TracedRun> runs =
      traced_runs(traces, command.per_name ? RowsPer::name : RowsPer::launch, settings_of_card);
  write(file, runs, command);
  for (const std::string& sentence : trace_sentences(request_of(command, traces), traces, runs))
    runs.empty() ? warn(sentence) : say(sentence);
  if (code != 0) return code;
  return static_cast<int>(runs.empty() ? ExitCode::environment : ExitCode::ok);
}

#else

int trace_command(const TraceCommand&) { throw EnvironmentError(built_without_gpu); }

#endif

}  // namespace

extern const CommandEntry trace_entry;
const CommandEntry trace_entry{.name = "trace",
                               .help = "Count kernels of any program: attnprof trace ... -- PROGRAM",
                               .parser = command_parser<TraceParser, trace_command>,
                               .takes_program = true};

}  // namespace attnprof
