// Compiled kernels on disk, shared by all runs of one user.
//
//   <root>/includes/<command>   the files a command read last time, one a line
//   <root>/kernels/<content>/   kernel.cubin, log.txt, checksum: one compilation
//   <root>/tmp/                 entries being made; each is published by one rename
//   <root>/failed/              compiler output of what did not compile
//
// <command> is a hash of the whole command and the compiler's version; <content> of that and of every file
// the compiler read. An entry whose checksum does not fit (a torn write) counts as absent and is replaced.
#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/scratch.hpp"

namespace attnprof {

struct CacheEntry {
  std::string cubin;
  std::string log;  // all the compiler printed
};

class KernelCache {
 public:
  // `option`: --cache-dir; empty: XDG_CACHE_HOME/attnprof or ~/.cache/attnprof. A directory that cannot be
  // used (not writable, or open to other users) is replaced by a temporary one for this process; notice()
  // says so.
  explicit KernelCache(const std::string& option);

  const std::filesystem::path& root() const { return root_; }
  const std::string& notice() const { return notice_; }  // empty: none

  // All safe from several threads and processes. `command`: content_hash of command and compiler.
  std::optional<CacheEntry> find(const std::string& command);
  // Where entries are made, on the same file system as the published ones.
  std::filesystem::path scratch_folder() const { return root_ / "tmp"; }
  // `read_files`: all files the compiler read. Does nothing when one of them is newer than `started`: it may
  // not be what was compiled.
  void publish(const std::string& command, const std::vector<std::string>& read_files,
               const CacheEntry& entry, std::filesystem::file_time_type started);
  // Keeps the output of a failed compilation; returns where.
  std::string keep_failure(const std::string& command, const std::string& log) const;

 private:
  std::optional<std::string> content_key(const std::string& command, const std::vector<std::string>& files);
  std::optional<std::string> file_hash(const std::string& path);

  struct KnownFile {
    std::filesystem::file_time_type time;
    uintmax_t size;
    std::string hash;
  };
  std::filesystem::path root_;
  std::string notice_;
  std::optional<ScratchDir> fallback_;
  std::mutex mutex_;
  std::map<std::string, KnownFile> known_files_;
};

}  // namespace attnprof
