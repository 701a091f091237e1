// The file a sweep writes, and what to do when it is already there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

enum class Existing {
  refuse,     // default: an existing file is never touched
  append,     // rows of a new run after those of earlier ones
  resume,     // complete the last run
  overwrite,  // start again
};

// The one refusal of an output that cannot be written, exit code 3: throws EnvironmentError.
[[noreturn]] void refuse_unwritable(const std::string& path, const std::string& why);

// Throws UsageError when the file is there and `existing` says refuse, EnvironmentError when it cannot be
// written: its folder is missing, lacks permission, or it is no regular file.
void check_existing(const std::string& path, Existing existing);

// The same for a file that is written anew and never added to.
void check_new_file(const std::string& path, bool overwrite);

// The same, of a file that is made out of `read`: what is read is never written over.
void check_new_file(const std::string& path, bool overwrite, const std::vector<std::string>& read);
// The last of these alone: throws UsageError when `path` is one of the files in `read`.
void check_not_read(const std::string& path, const std::vector<std::string>& read);

// Writes by rename, so that a reader sees the old text or the new one. Throws EnvironmentError.
void replace_file(const std::string& path, const std::string& text);

// Opened and locked against other runs before anything runs; nothing of it changes until `truncate` or
// `write`.
class OutputFile {
 public:
  // Throws EnvironmentError when it cannot be written, UsageError when it exists against `existing` or
  // another run writes it.
  OutputFile(const std::string& path, Existing existing);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  std::string text() const;
  void truncate(size_t size);
  // At the end, in one system call where the file system allows it. Throws EnvironmentError (a full disk).
  void write(std::string_view text);

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace attnprof
