#include "cli/gate_output.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "gate/report.hpp"
#include "report/meta.hpp"

namespace attnprof {

namespace {

// By rename, but for what is no plain file (/dev/stdout), which is written to.
void write_output(const std::string& path, const std::string& text) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(status) || std::filesystem::is_regular_file(status))
    return replace_file(path, text);
  std::ofstream stream(path, std::ios::binary);
  if (!(stream << text).flush())
    throw EnvironmentError(fmt::format("{} cannot be written; give a file in a folder that can be", path));
}

}  // namespace

ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs,
                   FILE* stream) {
  if (!outputs.markdown.empty()) write_output(outputs.markdown, gate_markdown(result));
  if (!outputs.junit.empty()) write_output(outputs.junit, gate_junit(result, options));
  if (!outputs.json.empty()) write_output(outputs.json, gate_json(result, options));
  fmt::print(stream, "{}", gate_text(result));
  std::fflush(stream);
  return result.exit_code();
}

void write_gate_error(const Error& error, const GateOutputs& outputs) {
  if (!outputs.markdown.empty()) write_output(outputs.markdown, gate_error_markdown(error));
  if (!outputs.junit.empty()) write_output(outputs.junit, gate_error_junit(error));
  if (!outputs.json.empty()) write_output(outputs.json, gate_error_json(error));
}

}  // namespace attnprof
