#include <fmt/format.h>

#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "cli/command.hpp"
#include "cli/flags/config_file.hpp"
#include "cli/flags/gate.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/gate.hpp"
#include "cli/inputs.hpp"
#include "files/meta.hpp"
#include "files/read_meta.hpp"
#include "gate/gate.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

constexpr const char* gate_footer =
    "Examples:\n"
    "  attnprof gate baseline.csv out.csv --latency 3%\n"
    "  attnprof gate baseline.csv out.csv --markdown \"$GITHUB_STEP_SUMMARY\"\n"
    "  attnprof gate base.csv new.csv --key kernel --metric seconds:lower:1%:0.001\n\n"
    "A metric is worse when it lost more than its share of the baseline and more than its floor; time only when\n"
    "the 95 % interval of the ratio lies beyond the share. Improvements never fail.\n\n"
    "Exit codes: 0 no regression, 1 a regression, or rows missing or no longer ok, 2 wrong usage or a malformed\n"
    "file, 3 not comparable or nothing compared.";

class GateParser {
 public:
  explicit GateParser(CLI::App& app);
  GateCommand options(const Args&);

 private:
  GateCommand command_;
  CLI::App& app_;
  GateFlags flags_;
  std::string config_;
};

GateParser::GateParser(CLI::App& app) : app_(app), flags_(app, "Thresholds") {
  app.footer(gate_footer);
  flags_.add_compared_files(command_.baseline, command_.current);
  add_name(app, "--config", config_, "Options from section [gate] of a TOML or INI file", "FILE")
      ->configurable(false);
  flags_.add_outputs();
  flags_.add_against();
}

GateCommand GateParser::options(const Args&) {
  if (!config_.empty()) apply_config_file(app_, config_);
  command_.config = config_;
  command_.options = flags_.options();
  command_.outputs = flags_.outputs();
  return command_;
}

ExitCode run_gate(const GateCommand& command) {
  const GateOptions& options = command.options;
  const auto [baseline, current] =
      read_tables(command.baseline, command.current, options.key, options.metrics);
  const GateResult result =
      gate({baseline, meta_beside(command.baseline)}, {current, meta_beside(command.current)}, options);
  return show_gate(result, options, command.outputs, stdout);
}

ExitCode gate_command(const GateCommand& command) {
  std::vector<std::string> read = with_meta({command.baseline, command.current});
  if (!command.config.empty()) read.push_back(command.config);
  check_distinct(outputs_of(command.outputs), read);
  claim(command.outputs);
  try {
    return run_gate(command);
  } catch (const Error& error) {
    write_gate_error(error, command.outputs);
    throw;
  }
}

}  // namespace

extern const CommandEntry gate_entry;
const CommandEntry gate_entry{"gate", "Find regressions between two result files",
                              command_parser<GateParser, gate_command>};

}  // namespace attnprof
