#include "base/private_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace attnprof {
namespace fs = std::filesystem;
namespace {

constexpr int most_attempts = 100;  // 64 random bits: a second one is never needed unless something is wrong
constexpr size_t longest_stem = 200;  // bytes of the 255 that a name may have

[[noreturn]] void fail(const fs::path& path) {
  throw std::system_error(errno, std::generic_category(), path.string());
}

std::string unguessable_name(std::string_view stem) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) fail("getrandom");
  return fmt::format("{}.{:016x}", stem.substr(0, longest_stem), random);
}

}  // namespace

PrivateFile::PrivateFile(const fs::path& folder, std::string_view stem, mode_t mode) {
  const fs::path place = folder.empty() ? fs::path(".") : folder;
  folder_ = open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder_ < 0) fail(place);
  for (int attempt = 0; fd_ < 0 && attempt < most_attempts; ++attempt) {
    const std::string name = unguessable_name(stem);
    path_ = place / name;
    fd_ = openat(folder_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
    if (fd_ < 0 && errno != EEXIST) break;
  }
  if (fd_ >= 0) return;
  const int why = errno;
  close(folder_);
  errno = why;
  fail(path_);
}

PrivateFile::~PrivateFile() {
  if (!path_.empty()) unlinkat(folder_, path_.filename().c_str(), 0);
  close(fd_);
  close(folder_);
}

void PrivateFile::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) fail(path_);
    text.remove_prefix(static_cast<size_t>(size));
  }
}

void PrivateFile::rename_to(const std::string& name) {
  if (renameat(folder_, path_.filename().c_str(), folder_, name.c_str()) != 0)
    fail(path_.parent_path() / name);
  path_.clear();
}

fs::path make_private_folder(const fs::path& parent, std::string_view stem) {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    fs::path folder = parent / unguessable_name(stem);
    if (mkdir(folder.c_str(), 0700) == 0) return folder;  // a link of that name is EEXIST
    if (errno != EEXIST) break;
  }
  fail(parent);
}

void write_private_file(const fs::path& folder, const std::string& name, std::string_view text) {
  PrivateFile file(folder, name);
  file.write(text);
  file.rename_to(name);
}

}  // namespace attnprof
