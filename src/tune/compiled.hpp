// What the compiler says of a candidate's kernels, before any of them runs.
#pragma once

#include <optional>
#include <string>

#include "measure/compile/compile.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// Why a case should not be tried, as a sentence: a kernel of it does not compile, needs more registers than a
// block may have or, unless `keep_spills`, spills. Compiles what is not in the compiler's cache.
std::optional<std::string> compiled_reason(const Case& c, const DeviceProfile& device,
                                           KernelCompiler& compiler, bool keep_spills);

}  // namespace attnprof
