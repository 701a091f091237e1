// The repository that gate-pr runs in, and which two states of it are compared.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/pr/git.hpp"

namespace attnprof {

struct Repository {
  std::filesystem::path top;         // of its working tree, which is the head as it stands
  std::filesystem::path folder;      // in which the command is given, from `top`
  std::string revision;              // as --base names it
  std::string base, head;            // commits: the merge base, and what is checked out
  std::vector<std::string> changed;  // in the working tree, not committed

  bool is_its_own_base() const { return base == head && changed.empty(); }
};

// Of the current folder. `outputs`: files that gate-pr writes, and its scratch folder, which are no change.
// Throws EnvironmentError, with the command to run first where one helps, or UsageError for a revision that
// is none.
Repository open_repository(const Git& git, const std::string& revision,
                           const std::vector<std::string>& outputs);

std::string short_commit(const std::string& commit);

}  // namespace attnprof
