#include "base/error.hpp"
#include "base/hash.hpp"
#include "cli/commands.hpp"
#include "cli/doctor.hpp"

#if ATTNPROF_WITH_GPU

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/output_file.hpp"
#include "base/standard_streams.hpp"
#include "files/env_id.hpp"
#include "files/meta.hpp"
#include "files/resume.hpp"
#include "measure/gpu/nvml.hpp"
#include "row/row_csv.hpp"
#include "trace/pattern.hpp"
#include "trace/target_process.hpp"
#include "trace/trace_library.hpp"
#include "trace/trace_outcome.hpp"
#include "trace/trace_rows.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

// Where traced processes write, for nobody else to read.
class TraceFolder {
 public:
  TraceFolder() : path_((fs::temp_directory_path() / "attnprof-trace-XXXXXX").string()) {
    if (!mkdtemp(path_.data()))
      throw EnvironmentError(fmt::format("no folder can be made in {}; set TMPDIR to one that can be written",
                                         fs::temp_directory_path().string()));
  }
  ~TraceFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TraceFolder(const TraceFolder&) = delete;
  TraceFolder& operator=(const TraceFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Opened before the program runs, and nothing of it changes before there are rows.
class TraceFile {
 public:
  explicit TraceFile(const TraceCommand& command)
      : existing_(command.existing),
        existed_(fs::exists(command.output)),
        file_(command.output, command.existing) {
    if (existing_ == Existing::append && !file_.text().empty()) check_append(file_.text(), command.output);
  }
  // One that was made for nothing must not stand in the next command's way.
  ~TraceFile() {
    std::error_code ignored;
    if (!existed_ && !written_) fs::remove(file_.path(), ignored);
  }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  void write(std::vector<TracedRun>& runs, const TraceCommand& command) {
    const bool anew = existing_ == Existing::overwrite || file_.text().empty();
    const std::string beside = meta_path(file_.path());
    std::string meta = !anew && fs::exists(beside) ? read_text_file(beside) : "";
    std::string rows = anew ? csv_header(all_columns()) : "";
    for (TracedRun& run : runs) {
      const RunFacts facts = facts_of(run, command);
      meta = meta_with_run(meta, beside, facts, run.info);
      for (Row& row : run.rows) {
        row.provenance = {.schema = std::string(schema_version),
                          .run = facts.run,
                          .env_id = env_id(run.info),
                          .backend = run.info.name,
                          .device = run.info.device.name};
        rows += csv_row(all_columns(), row);
      }
    }
    replace_file(beside, meta);
    if (anew) file_.truncate(0);
    file_.write(rows);
    written_ = true;
  }

 private:
  static RunFacts facts_of(const TracedRun& run, const TraceCommand& command) {
    MeasureOptions options;
    options.verify = VerifyMode::off;
    options.counters = CounterMode::on;
    return {.run = new_run_id(),
            .command_line = command.command_line,
            .options = options,
            .cases = run.rows.size(),
            .plan_id = hash_text(command.command_line)};
  }

  Existing existing_;
  bool existed_, written_ = false;
  OutputFile file_;
};

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
          fmt::format("{} is set already (to {}): another profiler is there, and a process has room for one; "
                      "run attnprof "
                      "trace without it",
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

}  // namespace

int trace_command(const TraceCommand& command) {
  ignore_broken_pipes();
  const Pattern kernel("--kernel", command.kernel), range("--range", command.range);
  check_existing(command.output, command.existing);
  refuse_other_profiler(command);
  const std::string library = find_trace_library();
  TraceFile file(command);
  const TraceFolder folder;
  const int code = run_target(command.target, variables_of(command, library, folder.path()));
  const std::vector<ProcessTrace> traces = read_traces(folder.path());
  std::vector<TracedRun> runs =
      traced_runs(traces, command.per_name ? RowsPer::name : RowsPer::launch, settings_of_card);
  if (!runs.empty()) file.write(runs, command);
  for (const std::string& sentence : trace_sentences(request_of(command, traces), traces, runs))
    say(sentence);
  if (code != 0) return code;
  return static_cast<int>(runs.empty() ? ExitCode::environment : ExitCode::ok);
}

}  // namespace attnprof

#else

namespace attnprof {

int trace_command(const TraceCommand&) { throw EnvironmentError(built_without_gpu); }

}  // namespace attnprof

#endif
