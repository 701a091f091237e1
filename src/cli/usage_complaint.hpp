// What is wrong with a command line, as one of our sentences instead of CLI11's.
#pragma once

#include <string>
#include <string_view>

#include "cli/command_tree.hpp"

namespace attnprof {

// Whether what stands after -- is a program with its arguments.
bool takes_program(std::string_view command);

// "'swep' is none of sweep, tune, ...; did you mean sweep?"
std::string no_such_command(const std::string& word, const CLI::App& app);

// What CLI11 would take for something else. Throws UsageError: for a command that there is none of, which it
// would leave aside where --help follows, and for an option that stands where the value of one is missing.
void refuse_what_is_taken_for_another(const CLI::App& root, const Args& args);

// Of `args`, which were parsed.
std::string complaint(const CLI::ParseError& error, const CLI::App& root, const Args& args);

}  // namespace attnprof
