// What to do about a gate's outcome.
#pragma once

#include <string>

#include "gate/causes.hpp"

namespace attnprof {

// A sentence without its stop, and where one does it the command, as it can be copied. Empty where there is
// nothing to do.
struct Advice {
  std::string sentence, command;
};
Advice gate_advice(const GateReport& report);
std::string joined(const Advice& advice);

}  // namespace attnprof
