// What a gate prints and writes.
#pragma once

#include <cstdio>
#include <string>

#include "base/error.hpp"
#include "gate/gate.hpp"

namespace attnprof {

// Files that a gate writes; empty: not written.
struct GateOutputs {
  std::string markdown, junit, json;
};

// Text to `stream` and the files asked for; returns the gate's exit code.
ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs,
                   FILE* stream);

// A gate that could not decide: the files asked for say so, so that a stale green one is not read.
void write_gate_error(const Error& error, const GateOutputs& outputs);

}  // namespace attnprof
