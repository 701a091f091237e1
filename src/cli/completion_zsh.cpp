// Completion for zsh: a function a command, each with the specifications that _arguments takes.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/completion_words.hpp"

namespace attnprof {
namespace {

// Within single quotes.
std::string single_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

// In a specification brackets, colons and backslashes mean something.
std::string plain(const std::string& text) {
  std::string result;
  for (const char c : text)
    result += (std::string("[]:\\").find(c) == std::string::npos ? "" : "\\") + std::string(1, c);
  return result;
}

std::string action(const CompletedOption& option) {
  switch (option.value) {
    case Completed::file:
      return "_files";
    case Completed::folder:
      return "_files -/";
    case Completed::word:
      return fmt::format("({})", fmt::join(option.words, " "));
    case Completed::list:
      return fmt::format("_values -s , {} {}", option.metavar, fmt::join(option.words, " "));
    case Completed::nothing:
      break;
  }
  return " ";
}

std::string value(const CompletedOption& option) {
  return option.takes_value ? fmt::format(":{}:{}", plain(option.metavar), action(option)) : "";
}

// One for each name: an axis may be given several times, so none excludes another.
void add_options(std::string& script, const CompletedCommand& command) {
  for (const CompletedOption& option : command.options)
    for (const std::string& name : option.names) {
      const char* joined = option.takes_value ? (name.starts_with("--") ? "=" : "+") : "";
      script += fmt::format("    {} \\\n", single_quoted(fmt::format("*{}{}[{}]{}", name, joined,
                                                                     plain(option.help), value(option))));
    }
}

std::string function_name(std::string path) {
  std::ranges::replace(path, ' ', '_');
  return "_" + path;
}

void add_function(std::string& script, const CompletedCommand& command, const std::string& path);

// The commands beneath it, and the function of the one that is given.
void add_below(std::string& script, const CompletedCommand& command, const std::string& path) {
  script += "    '1: :->command' '*:: :->arguments'\n  case $state in\n  command)\n    local -a names=(\n";
  for (const CompletedCommand& below : command.commands)
    script += fmt::format("      {}\n", single_quoted(below.name + ":" + plain(below.help)));
  script += "    )\n    _describe -t commands command names ;;\n  arguments)\n    case $words[1] in\n";
  for (const CompletedCommand& below : command.commands)
    script += fmt::format("      {}) {} ;;\n", below.name, function_name(path + " " + below.name));
  script += "    esac ;;\n  esac\n}\n\n";
  for (const CompletedCommand& below : command.commands) add_function(script, below, path + " " + below.name);
}

void add_arguments(std::string& script, const CompletedCommand& command) {
  if (command.takes_program) {
    script += "    '*::program:_normal'\n}\n\n";
  } else if (command.arguments.empty()) {
    script += "    && return\n}\n\n";
  } else {
    const CompletedOption& last = command.arguments.back();
    script += fmt::format("    {}\n}}\n\n",
                          single_quoted(fmt::format("*:{}:{}", plain(last.metavar), action(last))));
  }
}

void add_function(std::string& script, const CompletedCommand& command, const std::string& path) {
  script +=
      fmt::format("{}() {{\n  local curcontext=$curcontext state\n  local -a line\n  _arguments -C \\\n",
                  function_name(path));
  add_options(script, command);
  if (command.commands.empty())
    add_arguments(script, command);
  else
    add_below(script, command, path);
}

}  // namespace

std::string zsh_completion(const CompletedCommand& root) {
  std::string script =
      "#compdef attnprof\n"
      "# zsh completion for attnprof, printed by `attnprof completion zsh`\n\n";
  add_function(script, root, root.name);
  // Read by compinit as the function _attnprof, or by a shell at once.
  return script +
         "if [[ $funcstack[1] == _attnprof ]]; then _attnprof \"$@\"; else compdef _attnprof attnprof; fi\n";
}

}  // namespace attnprof
