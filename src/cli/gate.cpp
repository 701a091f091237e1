#include <fmt/format.h>

#include "base/output_file.hpp"
#include "cli/commands.hpp"
#include "cli/gate_output.hpp"
#include "files/read_meta.hpp"
#include "gate/gate.hpp"

namespace attnprof {
namespace {

ExitCode run_gate(const GateCommand& command) {
  const GateOptions& options = command.options;
  const auto [baseline, current] =
      read_tables(command.baseline, command.current, options.key, options.metrics);
  const GateResult result =
      gate({baseline, meta_beside(command.baseline)}, {current, meta_beside(command.current)}, options);
  return show_gate(result, options, command.outputs, stdout);
}

}  // namespace

ExitCode gate_command(const GateCommand& command) {
  for (const std::string& output : {command.outputs.markdown, command.outputs.junit, command.outputs.json})
    if (!output.empty()) check_not_read(output, {command.baseline, command.current});
  try {
    return run_gate(command);
  } catch (const Error& error) {
    write_gate_error(error, command.outputs);
    throw;
  }
}

}  // namespace attnprof
