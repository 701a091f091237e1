// `attnprof sweep`: every combination of the axes, measured.
#include "cli/sweep.hpp"
#include "base/distinct_files.hpp"
#include "cli/inputs.hpp"
#include "files/meta.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "base/interrupt.hpp"
#include "base/nearest.hpp"
#include "base/output_place.hpp"
#include "base/replace_file.hpp"
#include "base/signal_end.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/flags/axes.hpp"
#include "cli/flags/config_file.hpp"
#include "cli/flags/gate.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/run_file.hpp"
#include "cli/flags/values.hpp"
#include "cli/row_output.hpp"
#include "plan/grammar.hpp"
#include "row/schema.hpp"
#include "run/recorded_run.hpp"
#include "run/sweep_gate.hpp"

namespace attnprof {
namespace {

const std::string sweep_footer =
    std::string(axes_footer) +
    "Examples:\n"
    "  attnprof sweep                       the default plan, on the GPU or simulated\n"
    "  attnprof sweep -N 1k:16k:x2 --tokens 16k --mask full,causal -o out.csv\n"
    "  attnprof sweep --variant flash2 -N 4k --br 64,128 --bc 32:128:x2\n"
    "  attnprof sweep --backend sim --target a100-sxm-80g -o - | less -S\n"
    "  attnprof sweep -o out.csv --gate baseline.csv --latency 3%\n\n"
    "Exit codes: 0 all well, 1 an incorrect or failed case, or with --gate a regression, 2 wrong usage, 3 nothing "
    "could be measured or compared, or FILE cannot be written, 129, 130, 131, 138 and 143 ended by a signal (what "
    "was measured is kept).";

constexpr const char* gate_group = "Gate";

class SweepParser {
 public:
  explicit SweepParser(CLI::App& app);
  SweepOptions options(const Args& args);

 private:
  void add_output(CLI::App& app);
  void add_gate(CLI::App& app);
  void gate_options();
  void output_options();

  SweepOptions options_;
  CLI::App& app_;
  AxisOptions axes_;
  MeasureFlags measure_;
  GateFlags gate_;
  RunFileFlags file_;
  std::string retries_ = "2", format_ = "table", config_;
  CLI::Option *columns_option_ = nullptr, *format_option_ = nullptr;
  std::vector<std::string> columns_;
};

SweepParser::SweepParser(CLI::App& app) : app_(app), axes_(app), measure_(app), gate_(app, gate_group) {
  app.footer(sweep_footer);
  add_output(app);
  add_gate(app);
}

void SweepParser::add_output(CLI::App& app) {
  file_.add(app, "CSV to write; FILE.meta.json beside it describes the run", "Add a further run to FILE",
            /*resume=*/true);
  app.add_flag("--dry-run", options_.dry_run, "Print the plan and run nothing");
  format_option_ = add_choice(app, "--format", format_, "table|csv|json", "Standard output");
  columns_option_ =
      app.add_option("--columns", columns_, "Columns of standard output, or all; see attnprof list --columns")
          ->allow_extra_args(false)
          ->type_name("LIST");
  add_name(app, "--config", config_, "Options from section [sweep] of a TOML or INI file", "FILE")
      ->configurable(false);
}

void SweepParser::add_gate(CLI::App& app) {
  app.add_option("--gate", options_.gate, "Then hold the rows against this baseline, as attnprof gate does")
      ->type_name("BASELINE.csv")
      ->group(gate_group);
  app.add_option("--gate-retries", retries_, "Measure ambiguous cases again up to this often")
      ->type_name("NUMBER")
      ->default_str(retries_)
      ->group(gate_group);
  gate_.add_outputs();
}

SweepOptions SweepParser::options(const Args& args) {
  if (!config_.empty()) apply_config_file(app_, config_);
  options_.axes = axes_.axes();
  options_.measure = measure_.measure();
  options_.device = measure_.device();
  output_options();
  gate_options();
  options_.command_line = command_line_of(args);
  options_.option_files = {config_, options_.device.target_file};
  return options_;
}

bool is_threshold(const CLI::Option& option) {
  return option.get_type_name() == "PERCENT" || option.get_type_name() == "AMOUNT";
}

void SweepParser::gate_options() {
  options_.gate_options = gate_.options();
  options_.gate_outputs = gate_.outputs();
  options_.gate_retries = static_cast<int>(whole_number("--gate-retries", retries_, 100));
  if (!options_.gate.empty()) return;
  for (const CLI::Option* option : app_.get_options())
    if (option->get_group() == gate_group && option->count() > 0)
      throw UsageError(fmt::format("{} is {} of a gate, and nothing is gated; give --gate BASELINE.csv too",
                                   option->get_name(), is_threshold(*option) ? "a threshold" : "an option"));
}

std::vector<std::string> column_names() {
  std::vector<std::string> names = {"all"};
  for (const Column& column : schema()) names.emplace_back(column.name);
  return names;
}

void SweepParser::output_options() {
  options_.output = file_.output();
  options_.existing = file_.existing();
  options_.format = parse_format(format_, false);
  if (columns_option_->count() > 0) options_.columns = parse_words("--columns", columns_);
  for (const std::string& name : options_.columns)
    if (name != "all" && !find_column(name))
      throw UsageError(
          fmt::format("--columns '{}' is no column{}", name,
                      did_you_mean(name, column_names(), "attnprof list --columns shows their names")));
  for (const CLI::Option* option : {columns_option_, format_option_})
    refuse_both(is_standard_output(options_.output) && option->count() > 0, "-o -",
                option->get_name().c_str());
}

constexpr const char* nothing_written = "nothing was written; -o FILE.csv keeps every column of every row";

// Of what is kept when the run ends before its time. What was written through is whoever reads it's.
std::string how_to_go_on(const SweepOptions& options) {
  if (options.output.empty()) return nothing_written;
  if (writable_place(options.output).kind() == OutputPlace::Kind::stream) return "";
  return fmt::format("{} has every finished row; --resume completes it", options.output);
}

void say_how_to_go_on(const SweepOptions& options) {
  if (const std::string how = how_to_go_on(options); !how.empty()) warn(how);
}

void say_the_end(ExitCode code, const SweepOptions& options) {
  if (code == ExitCode::environment)
    warn("nothing was measured: every case was skipped, for the reasons given");
  if (code == ExitCode::interrupted)
    say_how_to_go_on(options);
  else if (options.output.empty())
    say(nothing_written);
}

std::vector<std::string> inputs_of(const SweepOptions& options) {
  std::vector<std::string> all = plan_inputs(options.option_files, options.measure);
  const std::vector<std::string> baseline = with_meta({options.gate});
  all.insert(all.end(), baseline.begin(), baseline.end());
  return all;
}

std::vector<std::string> outputs_of(const SweepOptions& options) {
  std::vector<std::string> all = outputs_of(options.gate_outputs);
  const std::vector<std::string> rows = with_meta({options.output});
  all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

std::optional<SweepGate> gate_of(const SweepOptions& options) {
  if (options.gate.empty()) return std::nullopt;
  return std::optional<SweepGate>(
      std::in_place, SweepGateOptions{.baseline = options.gate,
                                      .current = options.output.empty() ? "this run" : options.output,
                                      .retries = options.gate_retries,
                                      .gate = options.gate_options,
                                      .outputs = options.gate_outputs});
}

struct Measured {
  ExitCode code;
  std::vector<Row> rows;
};

Measured measure(const SweepOptions& options, Backend& backend, const std::vector<Case>& cases,
                 RunFacts& facts, const SweepGate* gate, const std::atomic<bool>& stop) {
  std::optional<RunFile> file;
  if (!options.output.empty()) file.emplace(options.output, options.existing, Resumable::yes);
  std::vector<Row> done;
  if (file) done = file->resume(cases, backend, facts);
  const EndNote note(how_to_go_on(options));
  RecordedRun run(backend, facts, file ? &*file : nullptr, stop, std::move(done));
  RowOutput output(options.format, options.columns, /*kept=*/file.has_value());
  if (!is_standard_output(options.output)) run.show_on(output);
  try {
    const ExitCode code = run.measure(cases, gate);
    return {code, run.rows()};
  } catch (...) {
    say_how_to_go_on(options);
    throw;
  }
}

ExitCode measure_and_gate(const SweepOptions& options, const BackendOpener& open) {
  const std::optional<SweepGate> gate = gate_of(options);
  const OpenBackend opened = open(options.device, options.measure);
  Backend& backend = *opened.backend;
  const BackendInfo& info = backend.info();
  say(opened.why);
  for (const std::string& notice : info.notices) say(notice);
  const std::vector<Case> cases = expand(options.axes, info.device, info.free_bytes);
  RunFacts facts = new_run(options.command_line, options.measure, cases);
  if (gate) gate->check_plan(cases, provenance_of(facts, info), meta_of_run(facts, info));
  const InterruptGuard interrupt;
  const Measured measured =
      measure(options, backend, cases, facts, gate ? &*gate : nullptr, interrupt.stop());
  say_the_end(measured.code, options);
  if (!gate || measured.code == ExitCode::interrupted) return measured.code;
  // CSV and JSON stay whole.
  const bool people = options.format == Format::table && !is_standard_output(options.output);
  FILE* stream = people ? stdout : stderr;
  return std::max(measured.code, gate->show(measured.rows, meta_of_run(facts, info), stream));
}

ExitCode sweep(const SweepOptions& options, const BackendOpener& open) {
  ignore_broken_pipes();
  check_distinct(outputs_of(options), inputs_of(options));
  if (!options.output.empty()) check_existing(options.output, options.existing, Resumable::yes);
  if (options.gate.empty()) return measure_and_gate(options, open);
  claim(options.gate_outputs);
  try {
    return measure_and_gate(options, open);
  } catch (const Error& error) {
    write_gate_error(error, options.gate_outputs);
    throw;
  }
}

ExitCode sweep_command(const SweepOptions& options, const BackendOpener& open) {
  return options.dry_run ? dry_run(options, open) : sweep(options, open);
}

}  // namespace

extern const CommandEntry sweep_entry;
const CommandEntry sweep_entry{"sweep", "Measure every combination of the axes",
                               command_parser<SweepParser, sweep_command>};

}  // namespace attnprof
