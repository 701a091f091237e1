#include "base/input_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.hpp"

namespace attnprof {
namespace {

bool has_an_end(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0 || S_ISBLK(status.st_mode) || S_ISDIR(status.st_mode)) return false;
  if (!S_ISCHR(status.st_mode)) return true;
  return status.st_rdev == makedev(1, 3) || isatty(file) != 0;  // /dev/null, or somebody types
}

}  // namespace

void check_input(const std::string& path) {
  struct stat status {};
  const bool pipe = stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
  if (pipe) return;  // opened once: its writer would see this reader leave
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  const bool readable = file >= 0 && has_an_end(file);
  if (file >= 0) close(file);
  if (!readable) throw UsageError(fmt::format("{} cannot be read: give an existing, readable file", path));
}

}  // namespace attnprof
