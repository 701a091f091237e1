// Where the program finds what is not linked into it: kernel sources and the CUDA toolkit, from any working
// directory. It looks in its own home, in what the environment names and in a toolkit's usual places, never
// in whatever folder it happens to lie in: a program built from one revision and lying in the tree of another
// would measure the other's kernels.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace attnprof {

// A program's home: of a build, the source tree that it was built from, which the build notes beside the
// program (source_tree.txt); of any other, the prefix that it is installed in. Both absolute.
struct ProgramHome {
  std::filesystem::path kernels;
  // .venv, as scripts/setup.sh makes it; of an installed program the prefix, where pip installs too.
  std::filesystem::path python_environment;
};
ProgramHome program_home(const std::filesystem::path& program_folder);

// The folder that the running program lies in, or in a traced process attnprof's library; empty where the
// system does not say.
std::filesystem::path program_folder();

// The directory of kernel sources: `option` (--kernels DIR) if given, else the home's. Throws UsageError when
// `option` holds no kernels, EnvironmentError when none are found.
std::string find_kernels_dir(const std::string& option);

// Where a Python environment's wheels of NVIDIA's lie: each toolkit part, or since CUDA 13 the whole, in a
// folder of `nvidia`. Debian has `dist-packages` for what pip installs beside the distribution's packages.
std::vector<std::filesystem::path> wheel_toolkits(const std::filesystem::path& environment);

// Toolkit roots (holding bin/ and lib64/ or lib/) in the order they are searched: CUDA_HOME, /usr/local/cuda,
// /opt/cuda, then NVIDIA's wheels in VIRTUAL_ENV or in the home's Python environment. All absolute.
std::vector<std::filesystem::path> toolkit_roots();

}  // namespace attnprof
