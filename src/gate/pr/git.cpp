#include "gate/pr/git.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "base/error.hpp"
#include "base/program_path.hpp"
#include "base/run_program.hpp"
#include "base/trusted_path.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

std::string git_program() {
  for (const std::string& path : in_path("git"))
    if (is_program(path)) {
      require_trusted(path, "the program");
      return path;
    }
  throw EnvironmentError("gate-pr needs git, and there is none in PATH: install it (apt-get install git)");
}

// What git itself says to run.
std::string trusting_command(const std::string& errors) {
  const size_t begin = errors.find("git config --global --add safe.directory");
  return begin == std::string::npos ? "git config --global --add safe.directory '*'"
                                    : errors.substr(begin, errors.find('\n', begin) - begin);
}

[[noreturn]] void refuse(const std::vector<std::string>& words, const GitAnswer& answer) {
  refuse_dubious_owner(answer);
  throw EnvironmentError(fmt::format("git {} failed: {}", words.front(), first_complaint(answer)));
}

}  // namespace

std::string GitAnswer::line() const {
  return output.ends_with('\n') ? output.substr(0, output.size() - 1) : output;
}

Git::Git(fs::path scratch) : scratch_(std::move(scratch)), program_(git_program()) {}

GitAnswer Git::ask(const fs::path& folder, const std::vector<std::string>& words) const {
  std::vector<std::string> command = {program_, "--no-optional-locks"};
  for (const char* setting : {"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.quotePath=false"})
    command.insert(command.end(), {"-c", setting});
  // What we have made ourselves, where git takes another's repository for the user's own by its settings
  // alone.
  const std::string place = folder.string();
  if (place.starts_with(scratch_.string())) command.insert(command.end(), {"-c", "safe.directory=" + place});
  command.insert(command.end(), words.begin(), words.end());
  const std::string output = scratch_ / "git-output", errors = scratch_ / "git-errors";
  const int code = run_program(command, output, nullptr,
                               {.folder = folder, .variables = {{"LC_ALL", "C"}}, .errors = errors});
  return {code, read_file(output), read_file(errors)};
}

std::string Git::line(const fs::path& folder, const std::vector<std::string>& words) const {
  const GitAnswer answer = ask(folder, words);
  if (answer.code != 0) refuse(words, answer);
  return answer.line();
}

std::vector<std::string> Git::parts(const fs::path& folder, const std::vector<std::string>& words) const {
  const GitAnswer answer = ask(folder, words);
  if (answer.code != 0) refuse(words, answer);
  std::vector<std::string> all;
  std::istringstream text(answer.output);
  for (std::string part; std::getline(text, part, '\0');) all.push_back(part);
  return all;
}

void refuse_dubious_owner(const GitAnswer& answer) {
  if (answer.errors.find("dubious ownership") != std::string::npos)
    throw EnvironmentError(fmt::format(
        "git finds that another user owns the repository and reads nothing of it; if you trust it, run first: {}",
        trusting_command(answer.errors)));
}

void forget_hook_variables() {
  for (const char* name :
       {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR", "GIT_NAMESPACE"})
    unsetenv(name);
}

std::string first_complaint(const GitAnswer& answer) {
  std::istringstream lines(answer.errors);
  std::string line, found;
  while (std::getline(lines, line)) {
    if (line.empty()) continue;
    if (found.empty()) found = line;
    for (const std::string_view mark : {"fatal: ", "error: "})
      if (line.starts_with(mark)) return line.substr(mark.size());
  }
  return found.empty() ? fmt::format("exit code {}", answer.code) : found;
}

}  // namespace attnprof
