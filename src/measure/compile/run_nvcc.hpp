// Runs nvcc on one kernel source in a folder made for it, under names that mean nothing to a shell
// (nvcc_command.hpp), whatever the user's own folders and files are called.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <vector>

#include "schedule/step.hpp"

namespace attnprof {

struct NvccPaths {
  std::string nvcc, kernels_dir, source;  // absolute
};

struct NvccRun {
  int code = 0;
  std::string cubin, log;
  std::vector<std::string> read_files;  // the source and all that it includes; empty: not known
  // `log` and `read_files` have the user's own paths.
};

// `folder`: where nvcc's folder is made, unless a shell could read its path as more than a path; then TMPDIR
// or /tmp. Throws CaseFailed for a command that is none (nvcc_command.hpp), EnvironmentError for no folder.
NvccRun run_nvcc(const NvccPaths& paths, const KernelLaunch& kernel, const std::string& arch,
                 const std::filesystem::path& folder, const std::atomic<bool>* cancel);

}  // namespace attnprof
