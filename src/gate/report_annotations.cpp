// Workflow commands of GitHub Actions, which show beside the lines of a pull request.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/safe_text.hpp"
#include "gate/report.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

constexpr size_t most_shown = 10;  // GitHub's limit of errors, and of warnings, a step

// Neither ends the command nor begins another.
std::string command_text(std::string_view text, bool property) {
  std::string result;
  for (const char c : printable(text)) {
    if (c == '%' || (property && (c == ':' || c == ',')))
      result += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      result += c;
  }
  return result;
}

std::string command(std::string_view level, const std::string& file, std::string_view title,
                    std::string_view message) {
  const std::string place = file.empty() ? "" : fmt::format("file={},", command_text(file, true));
  return fmt::format("::{} {}title={}::{}\n", level, place, command_text(title, true),
                     command_text(message, false));
}

// Below the repository's folder, as GitHub wants it; empty for what is not.
std::string in_workspace(const fs::path& file, const std::string& workspace) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(workspace, error), real = fs::weakly_canonical(file, error);
  if (error || root.empty() || !fs::is_regular_file(real, error)) return "";
  const fs::path relative = real.lexically_relative(root);
  return relative.empty() || *relative.begin() == ".." ? "" : relative.string();
}

// The kernel's source: build rows name it, other rows' is called as the variant is; both lie in the folder of
// kernels that the files beside the rows name.
std::string source_of(const GateReport& report, const Cause& cause, const std::string& workspace) {
  const Table& table = report.table_of(cause);
  const bool builds = table.layout().source == Source::build;
  if (!builds && table.layout().source != Source::results) return "";
  const fs::path name = builds ? table.fact(cause.first, Fact::file)
                               : table.identity(cause.first, table.layout().key.front()) + ".cu";
  if (name.empty()) return "";
  if (const std::string found = in_workspace(name, workspace); builds && !found.empty()) return found;
  for (const KernelSources& kernels : report.result.current_kernels)
    if (const std::string found = in_workspace(fs::path(kernels.path) / name, workspace); !found.empty())
      return found;
  return "";
}

struct Annotation {
  std::string file, message;
};

// What does not fit GitHub's limit is counted in the last one that does.
std::string commands(std::string_view level, std::vector<Annotation> all, std::string_view title) {
  if (all.size() > most_shown) {
    const size_t rest = all.size() - most_shown + 1;
    all.resize(most_shown - 1);
    all.push_back({"", fmt::format("and {} more, which the report of the gate lists", rest)});
  }
  std::string text;
  for (const Annotation& one : all) text += command(level, one.file, title, one.message);
  return text;
}

bool is_warning(const Cause& cause) {
  return !cause.failed && (cause.state <= RowState::ambiguous || cause.state == RowState::never_ok);
}

}  // namespace

std::string gate_annotations(const GateReport& report, const std::string& workspace) {
  std::vector<Annotation> errors, warnings;
  if (report.result.compared_nothing()) errors.push_back({"", gate_summary(report)});
  for (const Cause& cause : report.causes)
    if (cause.failed || is_warning(cause))
      (cause.failed ? errors : warnings)
          .push_back({source_of(report, cause, workspace), joined(text_of(report, cause))});
  for (const std::string& warning : report.result.warnings) warnings.push_back({"", warning});
  return commands("error", std::move(errors), "attnprof gate") +
         commands("warning", std::move(warnings), "attnprof gate");
}

std::string gate_error_annotation(const Error& error) {
  return command("error", "", "attnprof gate: no verdict", error.what());
}

}  // namespace attnprof
