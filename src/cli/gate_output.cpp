#include "cli/gate_output.hpp"

#include <fmt/format.h>

#include "gate/report.hpp"
#include "report/meta.hpp"

namespace attnprof {

ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs) {
  if (!outputs.markdown.empty()) replace_file(outputs.markdown, gate_markdown(result));
  if (!outputs.junit.empty()) replace_file(outputs.junit, gate_junit(result, options));
  if (!outputs.json.empty()) replace_file(outputs.json, gate_json(result, options));
  fmt::print("{}", gate_text(result));
  std::fflush(stdout);
  return result.exit_code();
}

void write_gate_error(const Error& error, const GateOutputs& outputs) {
  if (!outputs.markdown.empty()) replace_file(outputs.markdown, gate_error_markdown(error));
  if (!outputs.junit.empty()) replace_file(outputs.junit, gate_error_junit(error));
  if (!outputs.json.empty()) replace_file(outputs.json, gate_error_json(error));
}

}  // namespace attnprof
