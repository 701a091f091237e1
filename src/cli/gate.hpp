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
};

}  // namespace attnprof
