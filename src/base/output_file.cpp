#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.hpp"

namespace attnprof {
namespace {

[[noreturn]] void refuse_existing(const std::string& path) {
  throw UsageError(
      fmt::format("{} exists: add --append (a further run), --resume (complete its last run) or "
                  "--overwrite, or give another -o",
                  path));
}

// Without touching it: what cannot be opened for writing, and why, is known before anything runs.
void check_writable(const std::string& path, bool exists) {
  const auto check = [&](const std::string& needed, int rights) {
    if (faccessat(AT_FDCWD, needed.c_str(), rights, AT_EACCESS) != 0)
      refuse_unwritable(path, std::strerror(errno));
  };
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  if (exists) check(path, W_OK);
  // The folder too: files are replaced by renaming, and most have a .meta.json beside them.
  check(((folder.empty() ? "." : folder) / ".").string(), W_OK | X_OK);
}

}  // namespace

void refuse_unwritable(const std::string& path, const std::string& why) {
  throw EnvironmentError(fmt::format(
      "{} cannot be written: {}; give a file in a folder that exists, can be written and has room", path,
      why));
}

void check_existing(const std::string& path, Existing existing) {
  std::error_code error;
  const bool exists = std::filesystem::exists(path, error);
  if (exists && !std::filesystem::is_regular_file(path, error))
    refuse_unwritable(path, "it is a folder, device or pipe, and rows are kept in a file");
  if (exists && existing == Existing::refuse) refuse_existing(path);
  check_writable(path, exists);
}

void check_new_file(const std::string& path, bool overwrite) {
  std::error_code error;
  if (!overwrite && std::filesystem::is_regular_file(path, error))
    throw UsageError(fmt::format("{} exists: add --overwrite or give another -o", path));
  check_existing(path, Existing::overwrite);
}

void check_new_file(const std::string& path, bool overwrite, const std::vector<std::string>& read) {
  check_new_file(path, overwrite);
  check_not_read(path, read);
}

void check_not_read(const std::string& path, const std::vector<std::string>& read) {
  std::error_code error;
  for (const std::string& file : read)
    if (std::filesystem::equivalent(file, path, error))
      throw UsageError(
          fmt::format("{} is one of the files to read; give another name for what is written", path));
}

OutputFile::OutputFile(const std::string& path, Existing existing) : path_(path) {
  check_existing(path, existing);
  const int exclusive = existing == Existing::refuse ? O_EXCL : 0;
  fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | exclusive, 0666);
  if (fd_ < 0 && errno == EEXIST) refuse_existing(path);
  if (fd_ < 0) refuse_unwritable(path, std::strerror(errno));
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    close(fd_);
    throw UsageError(
        fmt::format("{} is being written by another attnprof; wait for it or give another -o", path));
  }
}

OutputFile::~OutputFile() { close(fd_); }

std::string OutputFile::text() const {
  std::string text;
  std::array<char, 65536> buffer;
  for (off_t offset = 0;;) {
    const ssize_t size = pread(fd_, buffer.data(), buffer.size(), offset);
    if (size < 0) throw UsageError(fmt::format("{} cannot be read: {}", path_, std::strerror(errno)));
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
    offset += size;
  }
}

void OutputFile::truncate(size_t size) {
  if (ftruncate(fd_, static_cast<off_t>(size)) != 0)
    throw EnvironmentError(fmt::format("{} cannot be shortened: {}", path_, std::strerror(errno)));
}

void OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd_, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0)
      throw EnvironmentError(fmt::format("{} cannot be written: {}; make room and go on with --resume", path_,
                                         std::strerror(errno)));
    text.remove_prefix(static_cast<size_t>(size));
  }
}

void replace_file(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  std::ofstream stream(temporary, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string why = std::strerror(errno);
    std::remove(temporary.c_str());
    refuse_unwritable(path, why);
  }
}

}  // namespace attnprof
