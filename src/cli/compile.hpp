// What `attnprof compile` is asked for.
#pragma once

#include <string>
#include <vector>

#include "cli/flags/format.hpp"
#include "measure/backend.hpp"
#include "plan/sweep.hpp"

namespace attnprof {

struct CompileCommand {
  std::string command_line;
  SweepAxes axes;
  std::vector<std::string> archs;
  MeasureOptions measure;  // kernels_dir, cache_dir
  int jobs = 0;            // 0: one less than there are cores
  std::string output;
  bool overwrite = false;
  Format format = Format::table;
};

}  // namespace attnprof
