// `attnprof doctor`: what works here, what is missing and what to do.
#pragma once

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "measure/backend.hpp"

namespace attnprof {

// What the command line asks for.
struct DoctorCommand {
  bool json = false;
  bool self_test = false;
  std::string output;
  MeasureOptions measure;          // device, kernels_dir, cache_dir
  std::vector<std::string> asked;  // topics of checks
};

struct DoctorOptions {
  MeasureOptions measure;  // device, kernels_dir, cache_dir
  bool json = false;
  // Says which backend `--backend auto` takes, and why; may throw.
  std::function<std::string()> automatic_backend;
  std::vector<std::string> asked = {};  // topics of what was asked for by name
  bool color = false;
};

// Prints every check. Returns 3 where something is missing that was asked for; what else is missing is no
// error.
int run_doctor(const DoctorOptions& options, std::ostream& out);

std::vector<Check> examine_all(const DoctorOptions& options);

struct SelfTestOptions {
  MeasureOptions measure;
  std::string output;  // CSV; empty: none
};

// `attnprof doctor --self-test`: counts copies and fills of known size. Returns 0 when all counts are within
// the limits, 1 otherwise. Throws EnvironmentError where counters cannot be read.
int run_self_test(const SelfTestOptions& options, std::ostream& out);

}  // namespace attnprof
