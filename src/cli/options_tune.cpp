#include "cli/options_tune.hpp"

namespace attnprof {
namespace {

const std::string footer =
    std::string(axes_footer) +
    "Without --br, --bc and --knob a variant's own candidates are tried. Left out before anything runs: "
    "what\n"
    "does not fit the device, and kernels that spill. The rest is measured quickly, then what cannot be "
    "told\n"
    "from the fastest as precisely as --precision and --max-time say: a further run in FILE.\n\n"
    "Examples:\n"
    "  attnprof tune --variant flash2 -N 4k -d 64,128 --mask full,causal -o tune.csv\n"
    "  attnprof tune --variant flash2 -N 8k -d 128 --br 64,128 --bc 32:128:x2 --knob stages=1,2\n\n"
    "Exit codes: 0 all well, 1 an incorrect or failed candidate, 2 wrong usage, 3 nothing could be "
    "measured,\n"
    "130 interrupted (what was measured is kept).";

}  // namespace

TuneParser::TuneParser(CLI::App& root)
    : app_(*root.add_subcommand("tune", "Find the fastest tile and knobs for problems")),
      axes_(app_),
      measure_(app_) {
  app_.footer(footer);
  app_.add_flag("--keep-spills", command_.keep_spills, "Measure kernels that spill registers too");
  app_.add_flag("--no-compile", no_compile_, "Do not ask the compiler for registers and spills beforehand");
  add_name(app_, "-o,--output", command_.output, "CSV of every row measured, with FILE.meta.json", "FILE");
  app_.add_flag("--append", append_, "Add further runs to FILE");
  app_.add_flag("--overwrite", overwrite_, "Start FILE again");
  app_.add_option("--format", format_, "Standard output: table, markdown, csv or json")->default_str(format_);
}

TuneCommand TuneParser::command(const std::vector<std::string>& args) {
  if (!axes_.names_variants())
    throw UsageError("tune needs the variants to tune; give --variant NAME, see attnprof list");
  command_.axes = axes_.axes();
  command_.measure = measure_.measure();
  command_.device = measure_.device();
  command_.compile = !no_compile_;
  refuse_both(append_ && overwrite_, "--append", "--overwrite");
  if ((append_ || overwrite_) && command_.output.empty())
    throw UsageError(fmt::format("{} needs a file; give -o FILE.csv", append_ ? "--append" : "--overwrite"));
  command_.existing = append_ ? Existing::append : overwrite_ ? Existing::overwrite : Existing::refuse;
  command_.format = parse_format(format_, true);
  command_.command_line = command_line_of(args);
  return command_;
}

}  // namespace attnprof
