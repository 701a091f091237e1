// The rows of `attnprof compile`, a kernel each.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "measure/compile/compile_plan.hpp"

namespace attnprof {

// One cell of a kernel's row.
struct ReportColumn {
  std::string name;
  std::function<std::string(const KernelReport&)> text;
  bool number = false;
  bool of_kernel = false;  // kernels are compiled for it: shown to people where it varies
};
using ReportColumns = std::vector<ReportColumn>;

// The first, up to the macros, are what `attnprof gate` matches on, but for the tile and knobs as they were
// asked for.
ReportColumns report_columns(const std::string& run, const std::string& env_id);

// A table with what varies and the key figures, under short titles.
std::string for_people(const std::vector<KernelReport>& reports, const ReportColumns& columns);

}  // namespace attnprof
