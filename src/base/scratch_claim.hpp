// Which scratch folders are in use, and which were left by a program that was killed.
#pragma once

#include <filesystem>
#include <string>

namespace attnprof {

// Held by whoever made a scratch folder. The folder carries a lock, which the system takes away when its
// owner ends, in whatever way.
class ScratchClaim {
 public:
  explicit ScratchClaim(std::filesystem::path folder);
  ~ScratchClaim();  // the folder is no longer scratch, or is gone
  void keep();      // it is no longer scratch: takes our mark away, wherever it was moved
  ScratchClaim(const ScratchClaim&) = delete;
  ScratchClaim& operator=(const ScratchClaim&) = delete;

 private:
  std::filesystem::path folder_;
  int lock_ = -1;
};

// "attnprof", a separator, random letters and digits.
bool is_scratch_name(const std::string& name);

// A folder of this user that somebody claimed who has ended.
bool is_abandoned(const std::filesystem::path& folder);

// Removes from `parent` the scratch folders of this user whose owner has ended.
void remove_abandoned_scratch(const std::filesystem::path& parent);

}  // namespace attnprof
