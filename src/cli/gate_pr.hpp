// What `attnprof gate-pr` is asked for.
#pragma once

#include <string>
#include <vector>

#include "gate/gate.hpp"
#include "gate/gate_output.hpp"

namespace attnprof {

struct GatePrCommand {
  std::string base, build, folder;  // --base, --build and -o; empty: not given
  GateOptions options;
  GateOutputs outputs;
  std::vector<std::string> words;  // what both sides run
};

}  // namespace attnprof
