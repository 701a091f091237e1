// The command lines of `attnprof gate` and `attnprof baseline update`.
#include "cli/options_gate_commands.hpp"

#include "plan/grammar.hpp"

namespace attnprof {
namespace {

constexpr const char* gate_footer =
    "Examples:\n"
    "  attnprof gate baseline.csv out.csv --latency 3% --markdown \"$GITHUB_STEP_SUMMARY\"\n"
    "  attnprof gate --key kernel,size --metric seconds:lower:1%:0.001 base.csv new.csv     # any CSV\n\n"
    "A metric is worse when it lost more than its share of the baseline and more than its floor; time only "
    "when\n"
    "the 95 % interval of the ratio lies beyond the share. Improvements never fail.\n\n"
    "Exit codes: 0 no regression, 1 a regression, or rows missing or no longer ok, 2 wrong usage or a "
    "malformed\n"
    "file, 3 not comparable or nothing compared.";

void add_files(CLI::App& app, std::string& baseline, std::string& current) {
  app.add_option("baseline", baseline, "CSV to hold against")->type_name("BASELINE.csv")->required();
  app.add_option("current", current, "CSV that is judged")->type_name("CURRENT.csv")->required();
}

void add_run(CLI::App& app, std::string& run) {
  app.add_option("--run", run, "Of the current file: last run, newest row of every case, or a run's id")
      ->type_name("ID")
      ->default_str("last");
}

}  // namespace

GateParser::GateParser(CLI::App& root)
    : app_(*root.add_subcommand("gate", "Find regressions between two result files")),
      flags_(app_, "Thresholds") {
  app_.footer(gate_footer);
  add_files(app_, command_.baseline, command_.current);
  add_run(app_, run_);
  app_.add_option("--key", key_, "Identity columns of another tool's CSV")
      ->allow_extra_args(false)
      ->type_name("LIST");
  app_.add_option("--metric", metrics_, "Its column to gate, with direction and thresholds; repeatable")
      ->allow_extra_args(false)
      ->type_name("COLUMN:lower|higher:1%:FLOOR");
  flags_.add_outputs();
}

GateCommand GateParser::command() {
  command_.options = flags_.options();
  command_.options.run = run_;
  command_.outputs = flags_.outputs();
  if (key_.empty() != metrics_.empty())
    throw UsageError("--key and --metric belong together; give both for another tool's CSV");
  if (key_.empty()) return command_;
  command_.options.key = parse_words("--key", key_);
  command_.options.metrics.clear();
  for (const std::string& text : metrics_) command_.options.metrics.push_back(parse_metric(text));
  return command_;
}

BaselineParser::BaselineParser(CLI::App& root)
    : baseline_(*root.add_subcommand("baseline", "Renew what the gate holds against")),
      app_(*baseline_.add_subcommand("update", "Put the rows of a run into a baseline")),
      flags_(app_, "Thresholds") {
  baseline_.require_subcommand(1);
  add_files(app_, command_.baseline, command_.current);
  add_run(app_, run_);
  app_.add_flag("--accept-regressions", command_.accept_regressions, "Also rows that became worse");
}

BaselineCommand BaselineParser::command() {
  command_.options = flags_.options();
  command_.options.run = run_;
  return command_;
}

}  // namespace attnprof
