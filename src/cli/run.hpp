// The command line: parse, run the subcommand, print an error once, return the exit code.
#pragma once

namespace attnprof {

int run_command_line(int argc, char** argv);

}  // namespace attnprof
