#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "base/csv.hpp"
#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "base/replace_file.hpp"
#include "base/safe_text.hpp"
#include "base/standard_streams.hpp"
#include "base/terminal_color.hpp"
#include "cli/command.hpp"
#include "cli/flags/gate.hpp"
#include "files/meta.hpp"
#include "files/read_meta.hpp"
#include "gate/baseline.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

struct BaselineCommand {
  std::string baseline, current;
  GateOptions options;
  bool accept_regressions = false;
};

constexpr const char* baseline_footer =
    "Examples:\n"
    "  attnprof baseline update baseline.csv out.csv\n"
    "  attnprof baseline update baseline.csv out.csv --accept-regressions\n\n"
    "Exit codes: 0 the baseline has the rows, 1 rows regressed and the baseline is unchanged, 2 wrong usage or a "
    "malformed file, 3 not comparable, no measured row, or it cannot be written.";

class BaselineParser {
 public:
  explicit BaselineParser(CLI::App& app);
  BaselineCommand options(const Args&);

 private:
  BaselineCommand command_;
  CLI::App& app_;
  GateFlags flags_;
};

BaselineParser::BaselineParser(CLI::App& app)
    : app_(*app.add_subcommand("update", "Put the rows of a run into a baseline")),
      flags_(app_, "Thresholds") {
  app.require_subcommand(1);
  for (CLI::App* each : {&app, &app_}) each->footer(baseline_footer);
  flags_.add_compared_files(command_.baseline, command_.current);
  app_.add_flag("--accept-regressions", command_.accept_regressions, "Also rows that became worse");
}

BaselineCommand BaselineParser::options(const Args&) {
  command_.options = flags_.options();
  return command_;
}

// A baseline that is not there yet is one without rows.
std::string baseline_text(const BaselineCommand& command, const std::string& current) {
  std::error_code error;
  if (std::filesystem::exists(command.baseline, error)) return read_text_file(command.baseline);
  return current.substr(0, current.find('\n') + 1);
}

Table table_of(const std::string& text, const std::string& file, const GateOptions& options) {
  std::istringstream stream(text);
  return Table(stream, file, options.key, options.metrics);
}

bool regressed(const GateResult& result) {
  return result.count(Verdict::worse) + result.count(Event::Kind::not_ok) > 0;
}

ExitCode baseline_update_command(const BaselineCommand& command) {
  check_distinct(with_meta({command.baseline}), with_meta({command.current}));
  const std::string new_text = read_text_file(command.current);
  const Table current = table_of(new_text, command.current, command.options);
  const std::string old_text = baseline_text(command, new_text);
  const Table baseline = table_of(old_text, command.baseline, command.options);
  const auto old_meta = meta_beside(command.baseline), new_meta = meta_beside(command.current);
  const GateResult result = gate({baseline, old_meta}, {current, new_meta}, command.options);
  if (regressed(result)) {
    print(gate_text(GateReport(result, command.options), wants_color(stdout)));
    if (!command.accept_regressions) {
      warn(fmt::format("{} is unchanged: rows regressed; give --accept-regressions if that is meant",
                       command.baseline));
      return ExitCode::failed;
    }
  }
  const BaselineUpdate update =
      updated_baseline(old_text, old_meta, baseline, new_text, new_meta, current, command.options.run);
  if (update.replaced + update.added == 0)
    throw EnvironmentError(
        fmt::format("{} is unchanged: {} has no measured row", command.baseline, command.current));
  // First what describes the runs: a row without its run could not be compared.
  if (!update.meta.empty()) replace_file(meta_path(command.baseline), update.meta);
  replace_file(command.baseline, update.csv);
  print(fmt::format("{}: rows: {} replaced, {} added, {} kept\n", printable(command.baseline),
                    update.replaced, update.added, update.kept));
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry baseline_entry;
const CommandEntry baseline_entry{"baseline", "Renew what the gate holds against",
                                  command_parser<BaselineParser, baseline_update_command>};

}  // namespace attnprof
