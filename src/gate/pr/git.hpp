// git, asked by starting it.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace attnprof {

struct GitAnswer {
  int code = 0;
  std::string output, errors;
  std::string line() const;  // the output without its line end
};

class Git {
 public:
  // Throws EnvironmentError where PATH has no git. `scratch`: a folder for what it prints.
  explicit Git(std::filesystem::path scratch);

  // git WORDS... in `folder`, in English, without running a hook or writing to the repository by the way.
  GitAnswer ask(const std::filesystem::path& folder, const std::vector<std::string>& words) const;
  // Its output in one line. Throws EnvironmentError with what git says.
  std::string line(const std::filesystem::path& folder, const std::vector<std::string>& words) const;
  // Its output in parts that end in NUL (-z). Throws EnvironmentError with what git says.
  std::vector<std::string> parts(const std::filesystem::path& folder,
                                 const std::vector<std::string>& words) const;

 private:
  std::filesystem::path scratch_;
  std::string program_;
};

// From now on neither git nor what a build starts takes another repository for its own: a hook of git's sets
// GIT_DIR and the like for all that it starts.
void forget_hook_variables();

// Throws EnvironmentError with the command to run first where git reads nothing of a repository since another
// user owns it.
void refuse_dubious_owner(const GitAnswer& answer);

// The first line of what git complained of, without "fatal:".
std::string first_complaint(const GitAnswer& answer);

}  // namespace attnprof
