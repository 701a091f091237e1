#include "cli/options.hpp"

#include <algorithm>

#include "base/version.hpp"
#include "cli/options_detail.hpp"
#include "cli/options_explain.hpp"
#include "cli/options_gate_commands.hpp"
#include "cli/options_roofline.hpp"
#include "cli/options_tool_commands.hpp"
#include "cli/options_trace.hpp"
#include "cli/options_tune.hpp"
#include "plan/grammar.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

constexpr const char* about =
    "attnprof: an IO-aware attention profiler. It sweeps shapes and tile sizes over naive and flash "
    "attention and\n"
    "reports for every case whether the output is right, its time, the bytes that crossed HBM and the SMs "
    "(hardware\n"
    "counters on a GPU, a model without one), and where it sits under the roofline.";
const std::string sweep_footer =
    std::string(axes_footer) +
    "Examples:\n"
    "  attnprof sweep                                       the default plan, on the GPU or simulated\n"
    "  attnprof sweep -N 1k:16k:x2 --tokens 16k --hidden 2048 --mask full,causal -o out.csv\n"
    "  attnprof sweep --variant flash2 -N 4k --br 64,128 --bc 32:128:x2 --backend sim --target "
    "a100-sxm-80g\n\n"
    "Exit codes: 0 all well, 1 an incorrect or failed case, 2 wrong usage, 3 nothing could be measured,\n"
    "130 interrupted (what was measured is kept).";

class SweepParser {
 public:
  explicit SweepParser(CLI::App& root)
      : app_(*root.add_subcommand("sweep", "Measure every combination of the axes")),
        axes_(app_),
        measure_(app_),
        gate_(app_, "Gate") {
    app_.footer(sweep_footer);
    add_name(app_, "-o,--output", options_.output, "CSV to write; FILE.meta.json beside it describes the run",
             "FILE");
    app_.add_flag("--append", append_, "Add a further run to FILE");
    app_.add_flag("--resume", resume_, "Complete the last run of FILE");
    app_.add_flag("--overwrite", overwrite_, "Start FILE again");
    app_.add_flag("--dry-run", options_.dry_run, "Print the plan and run nothing");
    app_.add_option("--format", format_, "Standard output: table, csv or json")->default_str(format_);
    columns_option_ = app_.add_option("--columns", columns_,
                                      "Columns of standard output, or all; see attnprof list --columns")
                          ->allow_extra_args(false)
                          ->type_name("LIST");
    add_name(app_, "--config", config_, "Options from section [sweep] of a TOML or INI file", "FILE")
        ->configurable(false);
    app_.add_option("--gate", options_.gate,
                    "Then hold the rows against this baseline, as attnprof gate does")
        ->type_name("BASELINE.csv")
        ->group("Gate");
    app_.add_option("--gate-retries", retries_, "Measure ambiguous cases again up to this often")
        ->default_str(retries_)
        ->group("Gate");
    gate_.add_outputs();
  }

  CLI::App& app() { return app_; }

  SweepOptions options(const std::vector<std::string>& args) {
    if (!config_.empty()) apply_config_file(app_, config_);
    options_.axes = axes_.axes();
    options_.measure = measure_.measure();
    options_.device = measure_.device();
    output_options();
    gate_options();
    options_.command_line = command_line_of(args);
    return options_;
  }

 private:
  void gate_options() {
    options_.gate_options = gate_.options();
    options_.gate_outputs = gate_.outputs();
    options_.gate_retries = static_cast<int>(whole_number("--gate-retries", retries_, 100));
    const GateOutputs& files = options_.gate_outputs;
    if (options_.gate.empty() && !(files.markdown + files.junit + files.json).empty())
      throw UsageError("--markdown, --junit and --json are a gate's; give --gate BASELINE.csv too");
  }

  void output_options() {
    refuse_both(append_ && resume_, "--append", "--resume");
    refuse_both(append_ && overwrite_, "--append", "--overwrite");
    refuse_both(resume_ && overwrite_, "--resume", "--overwrite");
    if ((append_ || resume_ || overwrite_) && options_.output.empty())
      throw UsageError(fmt::format("{} needs a file; give -o FILE.csv", append_   ? "--append"
                                                                        : resume_ ? "--resume"
                                                                                  : "--overwrite"));
    options_.existing = append_      ? Existing::append
                        : resume_    ? Existing::resume
                        : overwrite_ ? Existing::overwrite
                                     : Existing::refuse;
    options_.format = parse_format(format_, false);
    if (columns_option_->count() > 0) options_.columns = parse_words("--columns", columns_);
    for (const std::string& name : options_.columns)
      if (name != "all" && !find_column(name))
        throw UsageError(
            fmt::format("--columns '{}' is no column; attnprof list --columns shows their names", name));
  }

  SweepOptions options_;
  CLI::App& app_;
  AxisOptions axes_;
  MeasureFlags measure_;
  GateFlags gate_;
  std::string retries_ = "2", format_ = "table", config_;
  bool append_ = false, resume_ = false, overwrite_ = false;
  CLI::Option* columns_option_;
  std::vector<std::string> columns_;
};

struct Parser {
  CLI::App root{about, "attnprof"};
  SweepParser sweep{root};
  TuneParser tune{root};
  ListParser list{root};
  CompileParser compile{root};
  DoctorParser doctor{root};
  GateParser gate{root};
  BaselineParser baseline{root};
  RooflineParser roofline{root};
  ExplainParser explain{root};
  PublishedParser published{root};
  CeilingsParser ceilings{root};
  TraceParser trace{root};
  NewVariantParser new_variant{root};
  CLI::App& plugin_host = *root.add_subcommand("plugin-host", "Started by attnprof itself")->group("");
  CLI::App& worker = *root.add_subcommand("worker", "Started by attnprof itself")->group("");  // hidden
};

// A negative number after an option is its value, to be refused as such; CLI11 would take it for an option.
std::vector<std::string> join_negative_values(const std::vector<std::string>& args) {
  std::vector<std::string> joined;
  for (const std::string& arg : args) {
    const bool negative = arg.size() > 1 && arg[0] == '-' && (arg[1] >= '0' && arg[1] <= '9');
    const bool after_option =
        !joined.empty() && joined.back().starts_with('-') && joined.back().find('=') == std::string::npos;
    if (negative && after_option)
      joined.back() += (joined.back().starts_with("--") ? "=" : "") + arg;
    else
      joined.push_back(arg);
  }
  return joined;
}

const CLI::App& parsed_command(const CLI::App& root) {
  const auto commands = root.get_subcommands();
  return commands.empty() ? root : *commands.front();
}

bool is_command(const CLI::App& root, std::string_view word) {
  return !root.get_subcommands([&](const CLI::App* app) { return app->get_name() == word; }).empty();
}

// "sweep, tune, ...": those that a person may give.
std::string command_names(const CLI::App& root) {
  std::string names;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    names += (names.empty() ? "" : ", ") + app->get_name();
  return names;
}

// CLI11's own complaint as one of our sentences.
std::string sentence(const CLI::ParseError& error, const CLI::App& root,
                     const std::vector<std::string>& args) {
  if (args.empty())
    return fmt::format("a command is missing: give one of {}; see attnprof --help", command_names(root));
  if (!args.front().starts_with('-') && !is_command(root, args.front()))
    return fmt::format("'{}' is none of {}; see attnprof --help", args.front(), command_names(root));
  const bool before_command = !root.remaining().empty();
  const CLI::App& app = before_command ? root : parsed_command(root);
  const std::string command = &app == &root ? "attnprof" : "attnprof " + app.get_name();
  if (const auto extras = app.remaining(); !extras.empty()) {
    if (app.get_name() == "trace" && !extras.front().starts_with('-'))
      return fmt::format(
          "'{}' is no argument of {}; give the program after --: attnprof trace -o FILE -- PROGRAM",
          extras.front(), command);
    return fmt::format("'{}' is no {} of {}; see {} --help", extras.front(),
                       extras.front().starts_with('-') ? "option" : "argument", command, command);
  }
  std::string what = error.what();
  std::ranges::replace(what, '\n', ' ');
  while (!what.empty() && (what.back() == ' ' || what.back() == '.')) what.pop_back();
  return fmt::format("{}; see {} --help", what, command);
}

}  // namespace

Command parse_command_line(const std::vector<std::string>& args) {
  Parser parser;
  CLI::App& root = parser.root;
  root.require_subcommand(1);
  root.set_version_flag("--version", fmt::format("attnprof {} ({})", tool_version(), tool_commit()));
  try {
    std::vector<std::string> reversed = join_negative_values(before_traced_program(args));
    std::ranges::reverse(reversed);  // the order in which CLI11 takes them
    root.parse(std::move(reversed));
    if (parser.sweep.app().parsed()) return parser.sweep.options(args);
    if (parser.tune.app().parsed()) return parser.tune.command(args);
    if (parser.list.app().parsed()) return parser.list.options();
    if (parser.compile.app().parsed()) return parser.compile.options();
    if (parser.doctor.app().parsed()) return parser.doctor.options();
    if (parser.gate.app().parsed()) return parser.gate.command();
    if (parser.baseline.app().parsed()) return parser.baseline.command();
    if (parser.roofline.app().parsed()) return parser.roofline.command();
    if (parser.explain.app().parsed()) return parser.explain.command();
    if (parser.published.app().parsed()) return parser.published.command();
    if (parser.ceilings.app().parsed()) return parser.ceilings.command();
    if (parser.trace.app().parsed()) return parser.trace.command(args);
    if (parser.new_variant.app().parsed()) return parser.new_variant.command();
    if (parser.plugin_host.parsed()) return PluginHostCommand{};
    return WorkerCommand{};
  } catch (const CLI::CallForHelp&) {
    return ShowText{root.help()};
  } catch (const CLI::CallForVersion& version) {
    return ShowText{std::string(version.what()) + "\n"};
  } catch (const CLI::ParseError& error) {
    throw UsageError(sentence(error, root, args));
  }
}

}  // namespace attnprof
