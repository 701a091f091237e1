// The compiler that makes the kernels: where it is, and which.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

struct Toolchain {
  std::string nvcc;          // path
  std::string version;       // "13.0.88"
  std::string version_text;  // all of what `nvcc --version` prints: part of the kernel cache's key
};

// Paths at which nvcc is looked for, in order: what CUDACXX names alone; without it CUDA_HOME, PATH, the
// usual places, NVIDIA's wheels.
std::vector<std::string> nvcc_candidates();

// The first candidate that is there and runs. Throws EnvironmentError, naming where it looked and what to do.
Toolchain find_toolchain();
Toolchain find_toolchain(const std::vector<std::string>& candidates);

// NVIDIA's disassembler: beside the nvcc that CUDACXX names, since an older one cannot read what a newer nvcc
// made, then where an nvcc would be; empty where there is none. Throws
// EnvironmentError for one that is not to be trusted.
std::string find_nvdisasm();

// "13.0.88" out of what `nvcc --version` prints; empty when it is not there.
std::string parse_nvcc_version(const std::string& text);

}  // namespace attnprof
