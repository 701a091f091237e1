// --config FILE: options of a command in a TOML or INI file, under the command's name.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace attnprof {

// Values of section [<name of app>] of the file for every option the command line has not given; sections of
// other commands that have --config are theirs. Throws UsageError naming key and file, also for a key that is
// given twice.
void apply_config_file(CLI::App& app, const std::string& file);
void apply_config_text(CLI::App& app, const std::string& text,
                       const std::string& file);  // of the file's text

}  // namespace attnprof
