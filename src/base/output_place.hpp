// Where the name of an output leads: links are followed to a file of a folder, or to what is no file.
#pragma once

#include <sys/stat.h>

#include <compare>
#include <string>

namespace attnprof {

// An open descriptor, closed at the end; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  int get() const { return fd_; }
  int release();

 private:
  int fd_;
};

// Which file it is, by whatever name: device and inode. Of one that is not there yet its folder's, and its
// name.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  std::string name;
  auto operator<=>(const FileId&) const = default;
};

class OutputPlace {
 public:
  enum class Kind {
    absent,  // a file that is to be made
    file,    // a regular one, which is replaced
    folder,
    stream,  // device, pipe, socket or a descriptor of this process (/dev/stdout): written through
  };

  // Folders on the way are opened by the kernel and links in them read one by one, so that its rules hold.
  // Throws std::system_error.
  explicit OutputPlace(const std::string& path);

  Kind kind() const { return kind_; }
  int folder() const { return folder_.get(); }  // of the file itself, after all links
  const std::string& name() const { return name_; }
  const struct stat& status() const { return status_; }  // unless absent
  FileId id() const;
  bool holds_data() const;  // a file or a disk, which writing would destroy; also behind a descriptor
  bool is_descriptor() const { return descriptor_ >= 0; }
  // Of a stream: open for writing. Throws std::system_error.
  Descriptor open_stream() const;
  // Without touching it. Throws std::system_error with why it cannot be written.
  void check_writable() const;

 private:
  void settle();

  Descriptor folder_;
  std::string name_;
  int descriptor_ = -1;       // the number, of /dev/fd/N
  bool kernel_link_ = false;  // a link of /proc, which only the kernel can follow
  Kind kind_ = Kind::absent;
  struct stat status_ {};
};

}  // namespace attnprof
