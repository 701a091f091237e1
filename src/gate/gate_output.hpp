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
  bool annotate = false;  // what failed as GitHub's workflow commands, beside the text
  std::string workspace;  // folder of the repository that these name files of; empty: $GITHUB_WORKSPACE
};

// Before anything runs: throws EnvironmentError where one cannot be written, and files say that there is no
// verdict yet, so that a green one of an earlier gate is not read if this one is killed.
void claim(const GateOutputs& outputs);

// Text to `stream`, coloured where it is a terminal that takes colour, and the files asked for; returns the
// gate's exit code. A markdown file that is GitHub's job summary ($GITHUB_STEP_SUMMARY) is added to, since
// other gates of the step write there too, every other one is replaced.
ExitCode show_gate(const GateResult& result, const GateOptions& options, const GateOutputs& outputs,
                   FILE* stream);

// A gate that could not decide: the files asked for say so.
void write_gate_error(const Error& error, const GateOutputs& outputs);

}  // namespace attnprof
