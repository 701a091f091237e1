// Options that name files, folders and devices.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace attnprof {

// An empty name comes from a script's unset variable: taken as "not given", it would lose what was asked for.
CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type);
void add_result_files(CLI::App& app, std::vector<std::string>& files);  // that a command reads

}  // namespace attnprof
