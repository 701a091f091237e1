// What `attnprof doctor` says of nvcc, its host compiler, kernel sources and kernel cache.
#pragma once

#include <string>
#include <vector>

#include "base/check.hpp"

namespace attnprof {

// Never throws. `kernels_dir`, `cache_dir`: as given on the command line, empty for the usual places.
std::vector<Check> examine_compiler(const std::string& kernels_dir, const std::string& cache_dir);

}  // namespace attnprof
