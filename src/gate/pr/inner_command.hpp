// The command that gate-pr runs on both sides, as the same words: what they name in the repository is each
// side's own.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gate/pr/repository.hpp"

namespace attnprof {

// A file or folder of the repository that a word names.
struct NamedFile {
  size_t word = 0;             // index of the word that holds it
  std::filesystem::path path;  // from the folder in which the command is given
  bool may_be_new = false;     // a variant, plug-in or library of one's own: the base may do without it
};

// Of what was given after --. Throws UsageError where gate-pr does not run such a command, and for options
// that are gate-pr's own.
void check_inner_command(const std::vector<std::string>& words);

class InnerCommand {
 public:
  // `words`: checked.
  InnerCommand(const std::vector<std::string>& words, const Repository& repository);

  // For both sides, from the folder in which the command is given: paths of the repository are relative to
  // it, those elsewhere absolute.
  const std::vector<std::string>& words() const { return words_; }
  // What words name and the head has, once both sides are built; `base_folder` is where the base runs the
  // command. Throws UsageError when there is nothing: the command would measure the same twice, and
  // EnvironmentError for what the base alone has.
  std::vector<NamedFile> named(const Repository& repository, const std::filesystem::path& base_folder) const;
  // The words without those that name `files`.
  std::vector<std::string> without(const std::vector<NamedFile>& files) const;

 private:
  std::vector<std::string> words_;
};

}  // namespace attnprof
