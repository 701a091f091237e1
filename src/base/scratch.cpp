#include "base/scratch.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "base/error.hpp"
#include "base/private_file.hpp"
#include "base/trusted_path.hpp"
#include "base/unfinished.hpp"

namespace attnprof {
namespace fs = std::filesystem;

namespace {

// Sticky, as /tmp, and of root's or ours: what one makes there nobody else can replace.
bool keeps_ours(const fs::path& folder) {
  struct stat status {};
  return stat(folder.c_str(), &status) == 0 && (status.st_mode & S_ISVTX) &&
         (status.st_uid == 0 || status.st_uid == geteuid());
}

// The folder that has to be trusted for what is made in `parent` to be ours.
fs::path trusted_part(const fs::path& parent) {
  std::error_code error;
  fs::path folder = fs::canonical(parent, error);
  if (error) return parent;
  while (keeps_ours(folder) && folder != folder.parent_path()) folder = folder.parent_path();
  return folder;
}

void refuse_others_folder(const fs::path& parent) {
  const std::string why = examine_trust(trusted_part(parent)).refusal;
  if (!why.empty())
    throw EnvironmentError(fmt::format("{} is not used for temporary files: {}", parent.string(), why));
}

}  // namespace

fs::path ScratchDir::temporary_directory() {
  const char* named = std::getenv("TMPDIR");
  return named && *named ? named : "/tmp";
}

ScratchDir::ScratchDir(const fs::path& parent) {
  refuse_others_folder(parent);
  try {
    path_ = start_folder([&] { return make_private_folder(parent); });
  } catch (const std::system_error& error) {
    throw EnvironmentError(fmt::format("no temporary directory can be made in {}: {}; set TMPDIR to one",
                                       parent.string(), error.code().message()));
  }
  claim_.emplace(path_);
}

void ScratchDir::release() {
  claim_->keep();
  claim_.reset();
  path_.clear();
}

ScratchDir::~ScratchDir() {
  if (!path_.empty()) remove_folder(path_);
}

}  // namespace attnprof
