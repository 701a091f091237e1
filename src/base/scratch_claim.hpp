// Which scratch folders are in use, and which were left by a program that was killed.
#pragma once

#include <filesystem>

namespace attnprof {

// Held by whoever made a scratch folder. The folder carries a lock, which the system takes away when its
// owner ends, in whatever way.
class ScratchClaim {
 public:
  explicit ScratchClaim(std::filesystem::path folder);
  ~ScratchClaim();  // the folder is gone
  void release();   // the folder is no longer scratch: it has become something
  ScratchClaim(const ScratchClaim&) = delete;
  ScratchClaim& operator=(const ScratchClaim&) = delete;

 private:
  std::filesystem::path folder_;
  int lock_ = -1;
};

// Removes from `parent` the scratch folders of this user whose owner has ended.
void remove_abandoned_scratch(const std::filesystem::path& parent);

}  // namespace attnprof
