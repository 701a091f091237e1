// Where the program finds what is not linked into it: kernel sources and the CUDA toolkit, from any working
// directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnprof {

// The directory of kernel sources: `option` (--kernels DIR) if given, else <prefix>/share/attnprof/kernels
// beside an installed program, else `kernels` in a directory above the program (a source tree's build).
// Throws UsageError when `option` holds no kernels, EnvironmentError when none are found.
std::string find_kernels_dir(const std::string& option);

// Toolkit roots (holding bin/ and lib64/ or lib/) in the order they are searched: CUDA_HOME, /usr/local/cuda,
// /opt/cuda, then NVIDIA's wheels in VIRTUAL_ENV or in a .venv above the program.
std::vector<std::filesystem::path> toolkit_roots();

// The directory of the running program, then those above it.
std::vector<std::filesystem::path> program_ancestors();

}  // namespace attnprof
