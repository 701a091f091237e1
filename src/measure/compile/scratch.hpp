// A directory of its own under the system's temporary directory (or a given one), private to the user and
// removed at the end, also when a signal ends the program.
#pragma once

#include <filesystem>
#include <optional>

#include "base/scratch_claim.hpp"

namespace attnprof {

class ScratchDir {
 public:
  // Throws EnvironmentError when no directory can be made in `parent`.
  explicit ScratchDir(const std::filesystem::path& parent = temporary_directory());
  ~ScratchDir();
  ScratchDir(const ScratchDir&) = delete;
  ScratchDir& operator=(const ScratchDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // The directory has been renamed and is no longer ours to remove.
  void release() {
    path_.clear();
    claim_->release();
  }

  static std::filesystem::path temporary_directory();  // TMPDIR, or /tmp

 private:
  std::filesystem::path path_;
  std::optional<ScratchClaim> claim_;
};

}  // namespace attnprof
