// Options that name files, folders and devices.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace attnprof {

// An empty name comes from a script's unset variable: taken as "not given", it would lose what was asked for.
CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type);
// One of a few words; its metavar names them: table|csv|json. `word` holds what is meant without it.
CLI::Option* add_choice(CLI::App& app, const std::string& names, std::string& word, const std::string& words,
                        const std::string& help);

// -o of what is written; "-" is standard output, as /dev/stdout is.
CLI::Option* add_output(CLI::App& app, std::string& file, const std::string& help);
bool is_standard_output(std::string_view file);

void add_result_files(CLI::App& app, std::vector<std::string>& files);  // that a command reads

}  // namespace attnprof
