// All commands with their options, as CLI11 has them: what is parsed, explained and completed.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.hpp"

namespace attnprof {

class CommandTree {
 public:
  CommandTree();
  CommandTree(const CommandTree&) = delete;
  CommandTree& operator=(const CommandTree&) = delete;

  CLI::App& root() { return root_; }

  // The command that was parsed, made of its options. Throws UsageError.
  std::unique_ptr<Command> command(const Args& args);

 private:
  CLI::App root_;
  bool quiet_ = false;
  std::map<const CLI::App*, std::unique_ptr<CommandParser>> parsers_;
};

// The innermost command that was parsed; the root where there is none.
const CLI::App& parsed_command(const CLI::App& root);

// Of a command, those that a person may give beneath it.
std::vector<const CLI::App*> visible_commands(const CLI::App& app);
std::vector<std::string> names_of(const std::vector<const CLI::App*>& apps);
// Null where there is none of that name; hidden ones too.
const CLI::App* find_command(const CLI::App& app, std::string_view name);

// "attnprof baseline update".
std::string full_name(const CLI::App& app);

// The options that are given by name, in the order of the help.
std::vector<const CLI::Option*> named_options(const CLI::App& app);
// "-N", "--seqlen".
std::vector<std::string> names_of(const CLI::Option& option);
bool takes_value(const CLI::Option& option);

}  // namespace attnprof
