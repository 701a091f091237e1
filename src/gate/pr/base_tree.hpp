// The merge base as files: a worktree of the user's repository in a scratch folder, with its submodules,
// which is gone at the end, however that comes.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/scratch_claim.hpp"
#include "base/unfinished.hpp"
#include "gate/pr/git.hpp"
#include "gate/pr/repository.hpp"

namespace attnprof {

class BaseTree {
 public:
  // In `scratch`, a canonical folder that somebody else removes. Throws EnvironmentError.
  BaseTree(const Git& git, const Repository& repository, const std::filesystem::path& scratch);

  const std::filesystem::path& top() const { return top_; }
  // Submodules that the user's own tree has not checked out either.
  const std::vector<std::string>& empty_submodules() const { return empty_submodules_; }

 private:
  void add(const std::filesystem::path& from, const std::filesystem::path& to, const std::string& commit);
  void add_submodules(const std::filesystem::path& from, const std::filesystem::path& to,
                      const std::string& commit);
  void refuse_pointers(const std::filesystem::path& from, const std::filesystem::path& to,
                       const std::string& commit) const;

  const Git& git_;
  std::filesystem::path scratch_, top_;
  std::vector<std::string> empty_submodules_;
  std::vector<std::unique_ptr<Undo>> undos_;           // what git keeps of each worktree in its repository
  std::vector<std::unique_ptr<ScratchClaim>> claims_;  // on the same, for other processes
};

}  // namespace attnprof
