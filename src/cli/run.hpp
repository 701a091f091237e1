// The command line: parse, run the subcommand, print an error once, return the exit code.
#pragma once

#include <string>
#include <vector>

#include "run/open_backend.hpp"

namespace attnprof {

// `args`: without the program's name. `open`: tests bring a backend of their own.
int run_command_line(const std::vector<std::string>& args, const BackendOpener& open = open_backend);

}  // namespace attnprof
