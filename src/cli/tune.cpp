// `attnprof tune`: the fastest tile and knobs of problems.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <sstream>

#include "base/distinct_files.hpp"
#include "base/signal_end.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/compile_progress.hpp"
#include "cli/flags/axes.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/run_file.hpp"
#include "cli/inputs.hpp"
#include "cli/tune_output.hpp"
#include "files/meta.hpp"
#include "measure/compile/compile_plan.hpp"
#include "tune/compiled.hpp"
#include "tune/contest.hpp"
#include "tune/passes.hpp"

namespace attnprof {
namespace {

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

const std::string tune_footer =
    std::string(axes_footer) +
    "Without --br, --bc and --knob a variant's own candidates are tried. Left out before anything runs: what\n"
    "does not fit the device, and kernels that spill. The rest is measured quickly, then what cannot be told\n"
    "from the fastest as precisely as --precision and --max-time say: a further run in FILE.\n\n"
    "Examples:\n"
    "  attnprof tune --variant flash2 -N 4k -d 64,128 --mask full,causal -o tune.csv\n"
    "  attnprof tune --variant flash2 -N 8k --br 64,128 --knob stages=1,2\n\n"
    "Exit codes: 0 all well, 1 an incorrect or failed candidate, 2 wrong usage, 3 nothing could be measured, 129, "
    "130, 131, 138 and 143 ended by a signal (what was measured is kept).";

class TuneParser {
 public:
  explicit TuneParser(CLI::App& app);
  TuneCommand options(const Args& args);

 private:
  TuneCommand command_;
  AxisOptions axes_;
  MeasureFlags measure_;
  RunFileFlags file_;
  std::string format_ = "table";
  bool no_compile_ = false;
};

TuneParser::TuneParser(CLI::App& app) : axes_(app), measure_(app) {
  app.footer(tune_footer);
  app.add_flag("--keep-spills", command_.keep_spills, "Measure kernels that spill registers too");
  app.add_flag("--no-compile", no_compile_, "Do not ask the compiler for registers and spills beforehand");
  file_.add(app, "CSV of every row measured, with FILE.meta.json", "Add further runs to FILE",
            /*resume=*/false);
  add_choice(app, "--format", format_, "table|csv|json|markdown", "Standard output");
}

TuneCommand TuneParser::options(const Args& args) {
  if (!axes_.names_variants())
    throw UsageError("tune needs the variants to tune; give --variant NAME, see attnprof list");
  command_.axes = axes_.axes();
  command_.measure = measure_.measure();
  command_.device = measure_.device();
  command_.compile = !no_compile_;
  command_.output = file_.output();
  command_.existing = file_.existing();
  command_.format = parse_format(format_, true);
  command_.command_line = command_line_of(args);
  return command_;
}

size_t candidates_in(const std::vector<Contest>& contests) {
  size_t count = 0;
  for (const Contest& contest : contests) count += contest.candidates.size();
  return count;
}

void say_pruned(const std::string& what, const std::vector<Pruned>& all) {
  size_t total = 0;
  for (const Pruned& pruned : all) total += pruned.count;
  if (total == 0) return;
  say(fmt::format("{} {}:", total, what));
  for (const Pruned& pruned : all)
    say(fmt::format("  {}{}", pruned.count == 1 ? "" : fmt::format("{} such as ", pruned.count),
                    pruned.example));
}

// Compiles what is left, in parallel, and takes out what the compiler speaks against.
void prune_compiled(std::vector<Contest>& contests, const TuneCommand& command, const BackendInfo& info) {
  std::optional<KernelCompiler> compiler;
  try {
    compiler.emplace(compile_options(command.measure));
  } catch (const EnvironmentError& error) {
    return say(fmt::format("registers and spills are not known beforehand: {}", error.what()));
  }
  std::vector<Case> cases;
  for (const Contest& contest : contests)
    cases.insert(cases.end(), contest.candidates.begin(), contest.candidates.end());
  compile_watched(cases, info.device.arch, *compiler, 0);
  say_pruned("left out by what the compiler says", prune(contests, [&](const Case& c) {
               return compiled_reason(c, info.device, *compiler, command.keep_spills);
             }));
}

// A model's latency is the same however often it is asked for.
bool is_a_model(const BackendInfo& info) { return info.name == "sim"; }

TuneResult measure(const TuneCommand& command, const BackendOpener& open, OpenBackend opened,
                   const std::vector<Contest>& contests) {
  std::optional<RunFile> file;
  if (!command.output.empty()) file.emplace(command.output, command.existing);
  TunePasses passes(command.command_line, command.measure, file ? &*file : nullptr);
  if (is_a_model(opened.backend->info())) return passes.only(contests, *opened.backend);
  opened.backend.reset();  // one at a time has the device's memory
  return passes.quick_then_precise(
      contests, [&](const MeasureOptions& options) { return open(command.device, options).backend; });
}

// On standard error where the rows themselves are on standard output.
void show(const std::string& text, const TuneCommand& command) {
  if (!is_standard_output(command.output)) return print(text);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) warn(line);
}

bool any_ok(const std::vector<ContestResult>& results) {
  return std::ranges::any_of(results, [](const ContestResult& result) {
    return std::ranges::any_of(result.rows, [](const Row& row) { return row.status.disposition == "ok"; });
  });
}

ExitCode tune_command(const TuneCommand& command, const BackendOpener& open) {
  ignore_broken_pipes();
  check_distinct(with_meta({command.output}), plan_inputs({command.device.target_file}, command.measure));
  if (!command.output.empty()) check_existing(command.output, command.existing);
  OpenBackend opened = open(command.device, command.measure);
  const BackendInfo info = opened.backend->info();
  say(opened.why);
  for (const std::string& notice : info.notices) say(notice);
  std::vector<Contest> contests = contests_of(command.axes, info.device, info.free_bytes);
  std::vector<ContestResult> results;
  for (const Contest& contest : contests)
    results.push_back({contest.candidates.front(), contest.candidates.size(), 0, {}});
  say(fmt::format("{} candidates for {} problem{}", candidates_in(contests), contests.size(),
                  contests.size() == 1 ? "" : "s"));
  say_pruned("cannot run", prune_skipped(contests));
  if (command.compile && candidates_in(contests) > 0) prune_compiled(contests, command, info);
  if (candidates_in(contests) == 0)
    throw EnvironmentError(
        "nothing can be measured: no candidate runs on this device, for the reasons given");
  const EndNote note(command.output.empty() ? "" : command.output + " has every row that was measured");
  const TuneResult found = measure(command, open, std::move(opened), contests);
  for (size_t i = 0; i < results.size(); ++i) {
    results[i].measured = contests[i].candidates.size();
    results[i].rows = found.rows[i];
  }
  show(format_results(results, command.format), command);
  if (is_a_model(info) && any_ok(results))
    say(fmt::format("these latencies are the simulator's model of {}, no measurement: tune again on the GPU",
                    info.device.name));
  if (command.output.empty()) say("nothing was written; -o FILE.csv keeps every row measured");
  return found.code;
}

}  // namespace

extern const CommandEntry tune_entry;
const CommandEntry tune_entry{"tune", "Find the fastest tile and knobs for problems",
                              command_parser<TuneParser, tune_command>};

}  // namespace attnprof
