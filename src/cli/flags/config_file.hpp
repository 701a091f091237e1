// --config FILE: options of a command in a TOML or INI file, under the command's name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attnprof {

// Values of section [<name of app>] of the file for every option the command line has not given. Throws
// UsageError naming key and file.
void apply_config_file(CLI::App& app, const std::string& file);

}  // namespace attnprof
