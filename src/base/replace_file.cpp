#include "base/replace_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <streambuf>
#include <system_error>

#include "base/error.hpp"
#include "base/output_place.hpp"
#include "base/private_file.hpp"

namespace attnprof {
namespace {

// SIGPIPE, kept from this thread for as long as it writes.
class BrokenPipesAreErrors {
 public:
  BrokenPipesAreErrors() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~BrokenPipesAreErrors() {
    const int error = errno;
    const timespec at_once{};
    if (failed_ && !sigismember(&before_, SIGPIPE)) sigtimedwait(&broken_pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  BrokenPipesAreErrors(const BrokenPipesAreErrors&) = delete;
  BrokenPipesAreErrors& operator=(const BrokenPipesAreErrors&) = delete;

  void failed() { failed_ = true; }

 private:
  sigset_t broken_pipe_, before_;
  bool failed_ = false;
};

// Into a descriptor; what went wrong is kept, since a stream says only that something did.
class DescriptorBuffer : public std::streambuf {
 public:
  explicit DescriptorBuffer(int fd) : fd_(fd) { setp(buffer_.data(), buffer_.data() + buffer_.size()); }
  const std::error_code& error() const { return error_; }

 protected:
  int_type overflow(int_type c) override {
    if (sync() != 0) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override {
    try {
      write_all(fd_, {pbase(), static_cast<size_t>(pptr() - pbase())});
    } catch (const std::system_error& error) {
      error_ = error.code();
      return -1;
    }
    setp(buffer_.data(), buffer_.data() + buffer_.size());
    return 0;
  }

 private:
  int fd_;
  std::error_code error_;
  std::array<char, 65536> buffer_;
};

void write_to(int fd, const std::function<void(std::ostream&)>& write) {
  DescriptorBuffer buffer(fd);
  std::ostream stream(&buffer);
  write(stream);
  stream.flush();
  if (!stream) throw std::system_error(buffer.error());
}

// The owner first, which takes set-user-ID bits away; where it cannot be kept, the file is the writer's.
void keep_owner_and_mode(int fd, const struct stat& old) {
  struct stat made {};
  const bool same = fstat(fd, &made) == 0 && made.st_uid == old.st_uid && made.st_gid == old.st_gid;
  const bool kept = same || fchown(fd, old.st_uid, old.st_gid) == 0 || fchown(fd, -1, old.st_gid) == 0;
  // What a group was allowed is not for another one.
  const mode_t mode = kept ? old.st_mode & 07777 : old.st_mode & 0707;
  if (fchmod(fd, mode) != 0) throw std::system_error(errno, std::generic_category());
}

void replace(const OutputPlace& place, const std::function<void(std::ostream&)>& write) {
  // By its number: the folder that was checked, whatever its path leads to by now.
  PrivateFile made(fmt::format("/proc/self/fd/{}", place.folder()), place.name(), 0666);
  if (place.kind() == OutputPlace::Kind::file) keep_owner_and_mode(made.fd(), place.status());
  write_to(made.fd(), write);
  made.rename_to(place.name());
}

void write_through(const OutputPlace& place, const std::function<void(std::ostream&)>& write) {
  std::cout.flush();
  std::fflush(stdout);  // it may be the same file: in the order it was printed
  write_to(place.open_stream().get(), write);
}

}  // namespace

void refuse_unwritable(const std::string& path, const std::string& why) {
  throw EnvironmentError(fmt::format(
      "{} cannot be written: {}; give a file in a folder that exists, can be written and has room", path,
      why));
}

OutputPlace writable_place(const std::string& path) {
  try {
    OutputPlace place(path);
    place.check_writable();
    return place;
  } catch (const std::system_error& error) {
    refuse_unwritable(path, error.code().message());
  }
}

void replace_file(const std::string& path, const std::function<void(std::ostream&)>& write) {
  const OutputPlace place = writable_place(path);
  try {
    place.kind() == OutputPlace::Kind::stream ? write_through(place, write) : replace(place, write);
  } catch (const std::system_error& error) {
    refuse_unwritable(path, error.code().message());
  }
}

void replace_file(const std::string& path, std::string_view text) {
  replace_file(path, [&](std::ostream& stream) { stream << text; });
}

void append_to_file(const std::string& path, std::string_view text) {
  const OutputPlace place = writable_place(path);
  try {
    if (place.kind() == OutputPlace::Kind::stream)
      return write_through(place, [&](std::ostream& stream) { stream << text; });
    const Descriptor file(openat(place.folder(), place.name().c_str(),
                                 O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (file.get() < 0) throw std::system_error(errno, std::generic_category());
    write_all(file.get(), text);
  } catch (const std::system_error& error) {
    refuse_unwritable(path, error.code().message());
  }
}

void write_all(int fd, std::string_view text) {
  BrokenPipesAreErrors pipes;
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) {
      const int error = errno;
      if (error == EPIPE) pipes.failed();
      throw std::system_error(error, std::generic_category());
    }
    text.remove_prefix(static_cast<size_t>(size));
  }
}

}  // namespace attnprof
