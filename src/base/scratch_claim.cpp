#include "base/scratch_claim.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <vector>

#include "base/unfinished.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// Set on a folder once its lock is held: one that was made a moment ago has neither yet, and must not look
// abandoned.
constexpr mode_t claimed = S_ISVTX;

int open_folder(const fs::path& folder) {
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

bool is_scratch_name(const std::string& name) {
  constexpr std::string_view stem = "attnprof";
  if (!name.starts_with(stem) || name.size() < stem.size() + 7) return false;
  const char separator = name[stem.size()];
  return (separator == '-' || separator == '.') &&
         std::all_of(name.begin() + stem.size() + 1, name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0; });
}

bool is_abandoned(const fs::path& folder) {
  const int fd = open_folder(folder);
  if (fd < 0) return false;
  struct stat status {};
  const bool ours = fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & claimed);
  const bool abandoned = ours && flock(fd, LOCK_EX | LOCK_NB) == 0;
  close(fd);
  return abandoned;
}

ScratchClaim::ScratchClaim(fs::path folder) : folder_(std::move(folder)), lock_(open_folder(folder_)) {
  note_folder(folder_);
  if (lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) == 0) fchmod(lock_, S_IRWXU | claimed);
}

void ScratchClaim::keep() {
  if (lock_ >= 0) fchmod(lock_, S_IRWXU);
}

ScratchClaim::~ScratchClaim() {
  forget_folder(folder_);
  if (lock_ >= 0) close(lock_);
}

void remove_abandoned_scratch(const fs::path& parent) {
  std::error_code error;
  std::vector<fs::path> abandoned;
  for (fs::directory_iterator entry(parent, error), end; !error && entry != end; entry.increment(error))
    if (is_scratch_name(entry->path().filename().string()) && is_abandoned(entry->path()))
      abandoned.push_back(entry->path());
  for (const fs::path& folder : abandoned) remove_folder(folder);
}

}  // namespace attnprof
