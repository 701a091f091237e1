#include "measure/compile/kernel_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

#include "base/hash.hpp"
#include "base/private_file.hpp"
#include "base/run_program.hpp"
#include "base/trusted_path.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

fs::path wanted_root(const std::string& option) {
  if (!option.empty()) return fs::absolute(option);
  // A relative XDG_CACHE_HOME is to be ignored (XDG Base Directory Specification).
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg && *xdg == '/') return fs::path(xdg) / "attnprof";
  const char* home = std::getenv("HOME");
  return home && *home == '/' ? fs::path(home) / ".cache/attnprof" : fs::path();
}

// Makes `directory` private to the user. Why it cannot be used, or nothing.
std::optional<std::string> make_private(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory.parent_path(), error);
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) return std::strerror(errno);
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) return std::strerror(errno);
  if (!S_ISDIR(status.st_mode)) return "it is not a directory";
  if (status.st_uid != geteuid()) return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH)) return "other users can write to it";
  if (std::string refusal = examine_trust(directory).refusal; !refusal.empty()) return refusal;
  if (access(directory.c_str(), W_OK | X_OK) != 0) return std::strerror(errno);
  return std::nullopt;
}

std::optional<std::string> make_root(const fs::path& root) {
  if (root.empty()) return "neither XDG_CACHE_HOME nor HOME is set";
  if (auto problem = make_private(root)) return problem;
  for (const char* part : {"includes", "kernels", "tmp", "failed"})
    if (auto problem = make_private(root / part)) return problem;
  return std::nullopt;
}

// What runs left behind a day ago or earlier, where no lock tells whether they still are.
void remove_leftovers(const fs::path& directory) {
  const auto limit = fs::file_time_type::clock::now() - std::chrono::hours(24);
  std::error_code error;
  std::vector<fs::path> old;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->last_write_time(ignored) < limit && !ignored) old.push_back(entry->path());
  }
  for (const fs::path& path : old) fs::remove_all(path, error);
}

std::string checksum(const CacheEntry& entry) {
  return content_hash(entry.cubin) + " " + content_hash(entry.log) + "\n";
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

}  // namespace

KernelCache::KernelCache(const std::string& option) : root_(wanted_root(option)) {
  if (const auto problem = make_root(root_)) {
    fallback_.emplace();
    notice_ = fmt::format(
        "the kernel cache {} cannot be used ({}): kernels are compiled anew in each run; name "
        "another directory with --cache-dir",
        root_.empty() ? "directory" : root_.string(), *problem);
    root_ = fallback_->path();
    make_root(root_);
  }
  for (const fs::path& folder : {root_ / "tmp", ScratchDir::temporary_directory()})
    remove_abandoned_scratch(folder);
  remove_leftovers(root_ / "tmp");
}

std::optional<CacheEntry> KernelCache::find(const std::string& command) {
  const std::vector<std::string> files = lines_of(read_file(root_ / "includes" / command));
  if (files.empty()) return std::nullopt;
  const auto content = content_key(command, files);
  if (!content) return std::nullopt;
  const fs::path directory = root_ / "kernels" / *content;
  std::error_code ignored;
  if (!fs::exists(directory, ignored)) return std::nullopt;
  CacheEntry entry{read_file(directory / "kernel.cubin"), read_file(directory / "log.txt")};
  if (!entry.cubin.empty() && read_file(directory / "checksum") == checksum(entry)) return entry;
  fs::remove_all(directory, ignored);
  return std::nullopt;
}

void KernelCache::publish(const std::string& command, const std::vector<std::string>& read_files,
                          const CacheEntry& entry, fs::file_time_type started) {
  std::error_code error;
  std::string list;
  for (const std::string& file : read_files) {
    if (fs::last_write_time(file, error) >= started || error) return;
    if (file.find('\n') != std::string::npos) return;  // a name that the list of names cannot have
    list += file + "\n";
  }
  const auto content = content_key(command, read_files);
  if (!content) return;
  ScratchDir made(scratch_folder());
  try {
    write_private_file(made.path(), "kernel.cubin", entry.cubin);
    write_private_file(made.path(), "log.txt", entry.log);
    write_private_file(made.path(), "checksum", checksum(entry));
    fs::rename(made.path(), root_ / "kernels" / *content, error);
    if (!error) made.release();  // else another run has published the same entry
    write_private_file(root_ / "includes", command, list);
  } catch (const std::system_error&) {  // the disk is full: it is compiled again the next time
  }
}

std::string KernelCache::keep_failure(const std::string& command, const std::string& log) const {
  const fs::path folder = root_ / "failed";
  const std::string name = command + ".log";
  try {
    write_private_file(folder, name, log);
  } catch (const std::system_error& error) {
    return fmt::format("not kept, {}", error.what());
  }
  return (folder / name).string();
}

std::optional<std::string> KernelCache::content_key(const std::string& command,
                                                    const std::vector<std::string>& files) {
  std::string all = command;
  for (const std::string& file : files) {
    const auto hash = file_hash(file);
    if (!hash) return std::nullopt;
    all += "\n" + file + " " + *hash;
  }
  return content_hash(all);
}

// A file is read again only when its time or size has changed: CUDA's headers are a few hundred files.
std::optional<std::string> KernelCache::file_hash(const std::string& path) {
  std::error_code error;
  const auto time = fs::last_write_time(path, error);
  if (error) return std::nullopt;
  const uintmax_t size = fs::file_size(path, error);
  if (error) return std::nullopt;
  {
    const std::lock_guard lock(mutex_);
    const auto known = known_files_.find(path);
    if (known != known_files_.end() && known->second.time == time && known->second.size == size)
      return known->second.hash;
  }
  const std::string hash = content_hash(read_file(path));
  const std::lock_guard lock(mutex_);
  known_files_[path] = {time, size, hash};
  return hash;
}

}  // namespace attnprof
