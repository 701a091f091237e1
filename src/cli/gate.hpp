// What `attnprof gate` is asked for.
#pragma once

#include <string>

#include "gate/gate.hpp"
#include "gate/gate_output.hpp"

namespace attnprof {

struct GateCommand {
  std::string baseline, current;
  GateOptions options;
  GateOutputs outputs;
  std::string config;  // the file that options were read from; empty: none
};

}  // namespace attnprof
