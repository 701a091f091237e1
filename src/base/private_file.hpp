// Temporary files and folders that nobody else can have planted: their names cannot be guessed, and they are
// made anew or not at all (O_EXCL, O_NOFOLLOW), so that no link that lies there is followed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace attnprof {

// A new empty file in a folder, open for writing. Unless it is renamed it is removed at the end. Errors of
// the system are thrown as std::system_error, with the path.
class PrivateFile {
 public:
  // Named `stem`, a dot and random digits. `mode`: before the umask, as of open().
  explicit PrivateFile(const std::filesystem::path& folder, std::string_view stem = "attnprof",
                       mode_t mode = 0600);
  ~PrivateFile();
  PrivateFile(const PrivateFile&) = delete;
  PrivateFile& operator=(const PrivateFile&) = delete;

  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }
  void write(std::string_view text) const;
  // Takes the place of `name` in the same folder, whatever that was, also a link; it is not followed.
  void rename_to(const std::string& name);

 private:
  std::filesystem::path path_;
  int folder_ = -1, fd_ = -1;  // the folder is held: its path may lead elsewhere later
};

// A new folder in `parent`, mode 0700, named `stem`, a dot and random digits.
std::filesystem::path make_private_folder(const std::filesystem::path& parent,
                                          std::string_view stem = "attnprof");

// `text` into `name` of `folder`, by a private file that takes its place: nobody sees half of it.
void write_private_file(const std::filesystem::path& folder, const std::string& name, std::string_view text);

}  // namespace attnprof
