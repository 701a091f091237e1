#include "gate/gate_output.hpp"

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <ostream>
#include <system_error>

#include "base/output_place.hpp"
#include "base/replace_file.hpp"
#include "base/standard_streams.hpp"
#include "base/terminal_color.hpp"
#include "gate/report.hpp"

namespace attnprof {

namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

// Whatever the file is called here.
bool is_job_summary(const std::string& path) {
  const std::string summary = variable("GITHUB_STEP_SUMMARY");
  if (summary.empty()) return false;
  try {
    return OutputPlace(path).id() == OutputPlace(summary).id();
  } catch (const std::system_error&) {
    return false;
  }
}

// What is left of the job summary's limit.
size_t room_in(const std::string& path) {
  if (!is_job_summary(path)) return job_summary_limit;
  const OutputPlace place = writable_place(path);
  const auto used = place.kind() == OutputPlace::Kind::file ? static_cast<size_t>(place.status().st_size) : 0;
  return used < job_summary_limit ? job_summary_limit - used : 0;
}

void write_output(const std::string& path, const std::function<void(std::ostream&)>& write) {
  if (!path.empty()) replace_file(path, write);
}

void write_text(const std::string& path, const std::string& text) {
  if (!path.empty()) replace_file(path, text);
}

void write_markdown(const std::string& path, const std::string& text) {
  if (!path.empty() && is_job_summary(path))
    append_to_file(path, text + "\n");
  else
    write_text(path, text);
}

void claim_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  const OutputPlace place = writable_place(path);
  if (place.kind() != OutputPlace::Kind::stream && !is_job_summary(path)) replace_file(path, text);
}

// A further command finds there what this one read: a file, no pipe, and no rows that none were kept of.
bool can_be_read_again(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

std::string workspace_of(const GateOutputs& outputs) {
  if (!outputs.workspace.empty()) return outputs.workspace;
  const std::string folder = variable("GITHUB_WORKSPACE");
  return folder.empty() ? "." : folder;
}

}  // namespace

void claim(const GateOutputs& outputs) {
  for (const std::string* path : {&outputs.markdown, &outputs.junit, &outputs.json})
    if (!path->empty()) writable_place(*path);
  const EnvironmentError running("this gate has not ended: it is running, or it was stopped");
  claim_file(outputs.markdown, gate_error_markdown(running));
  claim_file(outputs.junit, gate_error_junit(running));
  claim_file(outputs.json, gate_error_json(running));
}

ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs,
                   FILE* stream) {
  GateOptions shown = options;
  shown.renewable &= can_be_read_again(result.baseline->file()) && can_be_read_again(result.current->file());
  const GateReport report(result, shown);
  // Side by side: of a million rows either takes seconds.
  auto json = std::async(std::launch::async, [&] {
    write_output(outputs.json, [&](std::ostream& file) { write_gate_json(file, report); });
  });
  if (!outputs.markdown.empty())
    write_markdown(outputs.markdown, gate_markdown(report, room_in(outputs.markdown)));
  write_output(outputs.junit, [&](std::ostream& file) { write_gate_junit(file, report); });
  json.get();
  std::string text = gate_text(report, wants_color(stream));
  if (outputs.annotate) text += gate_annotations(report, workspace_of(outputs));
  std::fputs(text.c_str(), stream);  // a stream that is lost must not cost the exit code
  std::fflush(stream);
  return result.exit_code();
}

void write_gate_error(const Error& error, const GateOutputs& outputs) {
  // One that cannot be written must not cost the others, nor the exit code of `error`.
  const auto attempt = [](const auto& write, const std::string& path, const std::string& text) {
    try {
      write(path, text);
    } catch (const Error& lost) {
      warn(lost.what());
    }
  };
  attempt(write_markdown, outputs.markdown, gate_error_markdown(error));
  attempt(write_text, outputs.junit, gate_error_junit(error));
  attempt(write_text, outputs.json, gate_error_json(error));
  if (outputs.annotate) std::fputs(gate_error_annotation(error).c_str(), stderr);
}

}  // namespace attnprof
