#include "base/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "base/error.hpp"
#include "base/replace_file.hpp"

namespace attnprof {
namespace {

[[noreturn]] void refuse_existing(const std::string& path, Resumable resumable) {
  throw UsageError(fmt::format("{} exists: add --append (a further run){} or --overwrite, or give another -o",
                               path,
                               resumable == Resumable::yes ? ", --resume (complete its last run)" : ""));
}

// Of a file that took some rows already.
std::string what_to_do(const std::error_code& error, Resumable resumable) {
  const char* room =
      error == std::errc::file_too_large ? "raise the limit of a file's size (ulimit -f)" : "make room";
  return fmt::format("{} and {}", room, resumable == Resumable::yes ? "go on with --resume" : "run it again");
}

OutputPlace checked_place(const std::string& path, Existing existing, Resumable resumable) {
  OutputPlace place = writable_place(path);
  if (place.kind() == OutputPlace::Kind::file && existing == Existing::refuse)
    refuse_existing(path, resumable);
  if (place.kind() == OutputPlace::Kind::stream &&
      (existing == Existing::append || existing == Existing::resume))
    throw UsageError(
        fmt::format("{} is a device or pipe, which holds no earlier rows: leave out {}, or give a file", path,
                    existing == Existing::append ? "--append" : "--resume"));
  return place;
}

}  // namespace

void check_existing(const std::string& path, Existing existing, Resumable resumable) {
  checked_place(path, existing, resumable);
}

void check_new_file(const std::string& path, bool overwrite) {
  if (writable_place(path).kind() == OutputPlace::Kind::file && !overwrite)
    throw UsageError(fmt::format("{} exists: add --overwrite or give another -o", path));
}

OutputFile::OutputFile(const std::string& path, Existing existing, Resumable resumable)
    : path_(path), resumable_(resumable), place_(checked_place(path, existing, resumable)) {
  if (place_.kind() == OutputPlace::Kind::stream)
    open_stream();
  else
    open_file(existing);
}

void OutputFile::open_stream() {
  stream_ = true;
  try {
    fd_ = place_.open_stream();
  } catch (const std::system_error& error) {
    refuse_unwritable(path_, error.code().message());
  }
}

// Rows are added as they are measured, so the file itself is written. Its links have been followed.
void OutputFile::open_file(Existing existing) {
  const int exclusive = existing == Existing::refuse ? O_EXCL : 0;
  fd_ = Descriptor(openat(place_.folder(), place_.name().c_str(),
                          O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | exclusive, 0666));
  if (fd_.get() < 0 && errno == EEXIST) refuse_existing(path_, resumable_);
  if (fd_.get() < 0) refuse_unwritable(path_, std::strerror(errno));
  if (flock(fd_.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(
        fmt::format("{} is being written by another attnprof; wait for it or give another -o", path_));
}

std::string OutputFile::text() const {
  std::string text;
  if (stream_) return text;
  std::array<char, 65536> buffer;
  for (off_t offset = 0;;) {
    const ssize_t size = pread(fd_.get(), buffer.data(), buffer.size(), offset);
    if (size < 0) throw UsageError(fmt::format("{} cannot be read: {}", path_, std::strerror(errno)));
    if (size == 0) return text;
    text.append(buffer.data(), static_cast<size_t>(size));
    offset += size;
  }
}

void OutputFile::truncate(size_t size) {
  if (!stream_ && ftruncate(fd_.get(), static_cast<off_t>(size)) != 0)
    throw EnvironmentError(fmt::format("{} cannot be shortened: {}", path_, std::strerror(errno)));
}

void OutputFile::remove() {
  if (!stream_) unlinkat(place_.folder(), place_.name().c_str(), 0);
}

void OutputFile::write(std::string_view text) {
  try {
    write_all(fd_.get(), text);
  } catch (const std::system_error& error) {
    if (stream_) refuse_unwritable(path_, error.code().message());
    throw EnvironmentError(fmt::format("{} cannot be written: {}; {}", path_, error.code().message(),
                                       what_to_do(error.code(), resumable_)));
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
