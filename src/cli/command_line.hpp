// From the words of a command line to the command they ask for.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"

namespace attnprof {

// --help and --version.
struct ShowText {
  std::string text;
};

// Throws UsageError, one sentence, for everything that is wrong with them.
std::unique_ptr<Command> parse_command_line(const Args& args);

// Whether it asks for a command that attnprof starts itself.
bool is_hidden_command(const Args& args);

std::string command_line_of(const Args& args);  // "attnprof sweep ..."

}  // namespace attnprof
