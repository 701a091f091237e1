#include "base/output_place.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "base/links.hpp"

namespace attnprof {
namespace {

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

std::optional<std::string> link_target(int folder, const std::string& name) {
  std::array<char, PATH_MAX> text;
  const ssize_t size = readlinkat(folder, name.c_str(), text.data(), text.size());
  if (size >= 0) return std::string(text.data(), static_cast<size_t>(size));
  if (errno != EINVAL && errno != ENOENT) fail(errno);
  return std::nullopt;
}

// The kernel's own rule (fs.protected_symlinks), on every machine: in a folder that everybody may write to,
// links of others are not followed.
void check_may_follow(int folder, const std::string& name) {
  struct stat place {
  }, link{};
  if (fstat(folder, &place) != 0 || fstatat(folder, name.c_str(), &link, AT_SYMLINK_NOFOLLOW) != 0)
    fail(errno);
  const bool shared = (place.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
  if (shared && link.st_uid != geteuid() && link.st_uid != place.st_uid) fail(EACCES);
}

bool is_proc(int folder) {
  struct statfs system {};
  return fstatfs(folder, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

// The number, where the folder is the list of this process's descriptors.
int own_descriptor(int folder, const std::string& name) {
  const auto path = link_target(AT_FDCWD, fmt::format("/proc/self/fd/{}", folder));
  const auto self = link_target(AT_FDCWD, "/proc/self");
  if (!path || !self || !path->starts_with("/proc/" + *self + "/") || !path->ends_with("/fd")) return -1;
  int number = -1;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc{} && end == name.data() + name.size() && number >= 0 ? number : -1;
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) close(fd_);
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

OutputPlace::OutputPlace(const std::string& path) {
  std::string rest = path;
  for (int links = 0; links <= most_links; ++links) {
    const size_t slash = rest.rfind('/');
    Descriptor next(openat(folder_.get() < 0 ? AT_FDCWD : folder_.get(),
                           slash == std::string::npos ? "." : rest.substr(0, slash + 1).c_str(),
                           O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (next.get() < 0) fail(errno);
    folder_ = std::move(next);
    name_ = slash == std::string::npos ? rest : rest.substr(slash + 1);
    if (name_.empty()) fail(path.empty() ? ENOENT : EISDIR);
    const auto target = link_target(folder_.get(), name_);
    kernel_link_ = target && is_proc(folder_.get());
    if (!target || kernel_link_) {
      settle();
      return;
    }
    check_may_follow(folder_.get(), name_);
    rest = *target;
  }
  fail(ELOOP);
}

void OutputPlace::settle() {
  if (kernel_link_) descriptor_ = own_descriptor(folder_.get(), name_);
  if (fstatat(folder_.get(), name_.c_str(), &status_, kernel_link_ ? 0 : AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno != ENOENT || kernel_link_) fail(errno);
    return;
  }
  kind_ = S_ISDIR(status_.st_mode)                    ? Kind::folder
          : S_ISREG(status_.st_mode) && !kernel_link_ ? Kind::file
                                                      : Kind::stream;
}

FileId OutputPlace::id() const {
  if (kind_ != Kind::absent) return {status_.st_dev, status_.st_ino, ""};
  struct stat place {};
  if (fstat(folder_.get(), &place) != 0) fail(errno);
  return {place.st_dev, place.st_ino, name_};
}

bool OutputPlace::holds_data() const {
  return kind_ != Kind::absent && (S_ISREG(status_.st_mode) || S_ISBLK(status_.st_mode));
}

Descriptor OutputPlace::open_stream() const {
  Descriptor stream(is_descriptor() ? fcntl(descriptor_, F_DUPFD_CLOEXEC, 0)
                                    : openat(folder_.get(), name_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (stream.get() < 0) fail(errno);
  return stream;
}

void OutputPlace::check_writable() const {
  const auto check = [&](const std::string& needed, int rights) {
    if (faccessat(folder_.get(), needed.c_str(), rights, AT_EACCESS) != 0) fail(errno);
  };
  if (kind_ == Kind::folder) fail(EISDIR);
  if (is_descriptor() && (fcntl(descriptor_, F_GETFL) & O_ACCMODE) == O_RDONLY) fail(EBADF);
  if (kind_ != Kind::absent && !is_descriptor()) check(name_, W_OK);
  // The folder too: files are replaced by renaming, and most have a .meta.json beside them.
  if (kind_ != Kind::stream) check(".", W_OK | X_OK);
}

}  // namespace attnprof
