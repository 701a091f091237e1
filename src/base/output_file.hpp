// The file a sweep writes, and what to do when it is already there.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/output_place.hpp"

namespace attnprof {

enum class Existing {
  refuse,     // default: an existing file is never touched
  append,     // rows of a new run after those of earlier ones
  resume,     // complete the last run
  overwrite,  // start again
};

// Whether the command that writes can complete a run (--resume): its errors then advise it.
enum class Resumable { no, yes };

// Throws UsageError when the file is there and `existing` says refuse, or when a device or pipe is to be
// added to; EnvironmentError when it cannot be written: its folder is missing or lacks permission, or it is
// one.
void check_existing(const std::string& path, Existing existing, Resumable resumable = Resumable::no);

// The same for a file that is written anew and never added to (base/replace_file.hpp).
void check_new_file(const std::string& path, bool overwrite);

// Of rows that are added as they are measured. Opened and locked against other runs before anything runs;
// nothing of it changes until `truncate` or `write`.
class OutputFile {
 public:
  // Throws EnvironmentError when it cannot be written, UsageError when it exists against `existing` or
  // another run writes it.
  OutputFile(const std::string& path, Existing existing, Resumable resumable = Resumable::no);

  const std::string& path() const { return path_; }
  // A device or pipe: rows are written through, and what was written cannot be read, kept or changed.
  bool is_stream() const { return stream_; }
  std::string text() const;
  void truncate(size_t size);
  void remove();  // the file itself, where a link leads to it
  // At the end, in one system call where the file system allows it. Throws EnvironmentError (a full disk).
  void write(std::string_view text);

 private:
  void open_stream();
  void open_file(Existing existing);

  std::string path_;
  Resumable resumable_;
  OutputPlace place_;
  Descriptor fd_;
  bool stream_ = false;
};

}  // namespace attnprof
