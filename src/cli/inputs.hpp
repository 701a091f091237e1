// The files that a command reads beside its results: no output may be one of them.
#pragma once

#include <string>
#include <vector>

#include "gate/gate_output.hpp"
#include "measure/backend.hpp"

namespace attnprof {

// `option_files`, which options were read from, those of the variants that are loaded, and the kernel
// sources.
std::vector<std::string> plan_inputs(const std::vector<std::string>& option_files,
                                     const MeasureOptions& measure);

std::vector<std::string> outputs_of(const GateOutputs& outputs);

// What is given to a program to run: itself, and what it may read.
std::vector<std::string> target_inputs(const std::vector<std::string>& target);

}  // namespace attnprof
