#include "gate/gate_output.hpp"

#include <functional>
#include <future>
#include <ostream>

#include "base/replace_file.hpp"
#include "gate/report.hpp"

namespace attnprof {

namespace {

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (!path.empty()) replace_file(path, write);
}

void write_text(const std::string& path, const std::string& text) {
  write_output(path, [&](std::ostream& stream) { stream << text; });
}

}  // namespace

ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs,
                   FILE* stream) {
  // Side by side: of a million rows either takes seconds.
  auto json = std::async(std::launch::async, [&] {
    write_output(outputs.json, [&](std::ostream& file) { write_gate_json(file, result, options); });
  });
  if (!outputs.markdown.empty()) write_text(outputs.markdown, gate_markdown(result));
  write_output(outputs.junit, [&](std::ostream& file) { write_gate_junit(file, result, options); });
  json.get();
  std::fputs(gate_text(result).c_str(), stream);  // a stream that is lost must not cost the exit code
  std::fflush(stream);
  return result.exit_code();
}

void write_gate_error(const Error& error, const GateOutputs& outputs) {
  write_text(outputs.markdown, gate_error_markdown(error));
  write_text(outputs.junit, gate_error_junit(error));
  write_text(outputs.json, gate_error_json(error));
}

}  // namespace attnprof
