// The files of commands whose rows are kernels.
#pragma once

#include <string>
#include <vector>

#include "files/build_meta.hpp"

namespace attnprof {

// `lines`, of which the first holds the titles, as a CSV, and beside it what describes the run; not beside a
// pipe or device. Throws EnvironmentError where they cannot be written.
void write_build_rows(const std::string& path, const std::vector<std::vector<std::string>>& lines,
                      const BuildRun& run);

}  // namespace attnprof
