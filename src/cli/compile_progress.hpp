// Compiling that a person at a terminal can watch.
#pragma once

#include <string>
#include <vector>

#include "measure/compile/compile_plan.hpp"

namespace attnprof {

// compile_plan for one architecture: its progress and, at the end, its sentence on standard error.
std::vector<KernelReport> compile_watched(const std::vector<Case>& cases, const std::string& arch,
                                          KernelCompiler& compiler, int jobs);

}  // namespace attnprof
