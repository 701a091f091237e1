// What describes a run that made or read kernels and measured nothing.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "measure/compile/kernel_tree.hpp"

namespace attnprof {

struct BuildRun {
  std::string run;      // its id
  std::string command;  // compile, resources
  std::string command_line;
  std::vector<std::pair<std::string, std::string>> environment;  // facts, such as the compiler's version
  // Names of those that must agree for two rows to be comparable (measure/comparable_facts.hpp); env_id is
  // their hash.
  std::vector<std::string> comparable;
  std::optional<KernelTree> kernels = {};  // nothing: the rows are of no kernel sources
};

std::string env_id(const BuildRun& run);

// The text of the .meta.json beside its rows.
std::string build_meta(const BuildRun& run);

}  // namespace attnprof
