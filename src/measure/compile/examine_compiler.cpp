#include "measure/compile/examine_compiler.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/installation.hpp"
#include "base/run_program.hpp"
#include "base/scratch.hpp"
#include "measure/compile/kernel_cache.hpp"
#include "measure/compile/toolchain.hpp"

namespace attnprof {
namespace {

std::string describe_nvcc() {
  const Toolchain found = find_toolchain();
  return fmt::format("nvcc {} at {}", found.version, found.nvcc);
}

// nvcc takes NVCC_CCBIN, else the first g++ in PATH.
std::string host_compiler() {
  const char* named = std::getenv("NVCC_CCBIN");
  const std::string wanted = named && *named ? named : "g++";
  if (wanted.find('/') != std::string::npos) return wanted;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string program = folder + '/' + wanted; access(program.c_str(), X_OK) == 0) return program;
  throw EnvironmentError(fmt::format(
      "nvcc needs a host C++ compiler, and there is no {} in PATH: install g++, or name one with NVCC_CCBIN",
      wanted));
}

std::string describe_host_compiler() {
  const std::string program = host_compiler();
  const ScratchDir scratch;
  const std::string output = scratch.path() / "version";
  if (run_program({program, "-dumpfullversion", "-dumpversion"}, output) != 0)
    throw EnvironmentError(fmt::format(
        "{}, nvcc's host compiler, does not start: install g++, or name one with NVCC_CCBIN", program));
  std::string version = read_file(output);
  version.erase(version.find_last_not_of("\r\n ") + 1);
  return fmt::format("C++ compiler {} at {}", version, program);
}

Check examine_cache(const std::string& cache_dir) {
  try {
    const KernelCache cache(cache_dir);
    if (!cache.notice().empty()) return {Check::State::note, "kernel cache", cache.notice()};
    return {Check::State::ok, "kernel cache", cache.root().string()};
  } catch (const std::exception& error) {
    return {Check::State::missing, "kernel cache", error.what()};
  }
}

}  // namespace

std::vector<Check> examine_compiler(const std::string& kernels_dir, const std::string& cache_dir) {
  return {examine("nvcc", describe_nvcc), examine("host compiler", describe_host_compiler),
          examine("kernels", [&] { return find_kernels_dir(kernels_dir); }), examine_cache(cache_dir)};
}

}  // namespace attnprof
