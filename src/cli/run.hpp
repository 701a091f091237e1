// The command line: parse, run the subcommand, print an error once, return the exit code.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "run/open_backend.hpp"

namespace attnprof {

using BackendOpener = std::function<OpenBackend(const DeviceChoice&, const MeasureOptions&)>;

// `args`: without the program's name. `open`: tests bring a backend of their own.
int run_command_line(const std::vector<std::string>& args, const BackendOpener& open = open_backend);

}  // namespace attnprof
