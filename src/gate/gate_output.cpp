#include "gate/gate_output.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>

#include "base/output_file.hpp"
#include "gate/report.hpp"

namespace attnprof {

namespace {

// By rename, but for what is no plain file (/dev/stdout), which is written to.
void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (path.empty()) return;
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  const bool plain = !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  const std::string target = plain ? fmt::format("{}.{}.tmp", path, getpid()) : path;
  std::ofstream stream(target, std::ios::binary);
  write(stream);
  stream.close();
  if (stream && (!plain || std::rename(target.c_str(), path.c_str()) == 0)) return;
  const std::string why = std::strerror(errno);
  if (plain) std::remove(target.c_str());
  refuse_unwritable(path, why);
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
