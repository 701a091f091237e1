// Completion for bash: what stands in COMP_WORDS before the word in hand is walked to the command, whose
// options and their values are cases of one function.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion_words.hpp"

namespace attnprof {
namespace {

constexpr const char* head = R"(# bash completion for attnprof, printed by `attnprof completion bash`

_attnprof_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }

# Words with commas between: the last of them.
_attnprof_list() {
  local before=
  [[ $cur == *,* ]] && before=${cur%,*},
  mapfile -t COMPREPLY < <(compgen -P "$before" -W "$1" -- "${cur##*,}")
  compopt -o nospace 2> /dev/null
}

_attnprof_files() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

_attnprof_folders() {
  compopt -o filenames 2> /dev/null
  mapfile -t COMPREPLY < <(compgen -d -- "$cur")
}

_attnprof() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=attnprof i
  COMPREPLY=()
  # --option=value is three words.
  if [[ $cur == = ]]; then
    cur=
  elif [[ $prev == = && $COMP_CWORD -ge 2 ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$command ${COMP_WORDS[i]}" in
)";

constexpr const char* tail = R"(  esac
}

complete -F _attnprof attnprof
)";

std::string path_below(const std::string& path, const CompletedCommand& command) {
  return path + " " + command.name;
}

// Commands beneath `command` as cases of the walk.
void add_walk(std::string& script, const CompletedCommand& command, const std::string& path) {
  for (const CompletedCommand& below : command.commands) {
    const std::string name = path_below(path, below);
    script += fmt::format("      \"{}\") command=\"{}\" ;;\n", name, name);
    if (below.takes_program)
      script += fmt::format(
          "      \"{} --\") compopt -o default 2> /dev/null; return ;;  # a program with its arguments\n",
          name);
    add_walk(script, below, name);
  }
}

std::string completing(const CompletedOption& option) {
  switch (option.value) {
    case Completed::file:
      return "_attnprof_files";
    case Completed::folder:
      return "_attnprof_folders";
    case Completed::word:
      return fmt::format("_attnprof_words \"{}\"", fmt::join(option.words, " "));
    case Completed::list:
      return fmt::format("_attnprof_list \"{}\"", fmt::join(option.words, " "));
    case Completed::nothing:
      break;
  }
  return ":";
}

void add_values(std::string& script, const CompletedCommand& command, const std::string& path) {
  for (const CompletedOption& option : command.options) {
    if (!option.takes_value) continue;
    std::string patterns;
    for (const std::string& name : option.names)
      patterns += fmt::format("{}\"{} {}\"", patterns.empty() ? "" : " | ", path, name);
    script += fmt::format("    {}) {}; return ;;\n", patterns, completing(option));
  }
  for (const CompletedCommand& below : command.commands) add_values(script, below, path_below(path, below));
}

std::string option_names(const CompletedCommand& command) {
  std::string names;
  for (const CompletedOption& option : command.options)
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  return names;
}

std::string other_words(const CompletedCommand& command) {
  std::string names;
  for (const CompletedCommand& below : command.commands) names += (names.empty() ? "" : " ") + below.name;
  if (!names.empty()) return fmt::format("_attnprof_words \"{}\"", names);
  return command.arguments.empty() ? ":" : completing(command.arguments.back());
}

void add_commands(std::string& script, const CompletedCommand& command, const std::string& path) {
  script += fmt::format(
      "    \"{}\")\n"
      "      if [[ $cur == -* ]]; then _attnprof_words \"{}\"; else {}; fi ;;\n",
      path, option_names(command), other_words(command));
  for (const CompletedCommand& below : command.commands) add_commands(script, below, path_below(path, below));
}

}  // namespace

std::string bash_completion(const CompletedCommand& root) {
  std::string script = head;
  add_walk(script, root, root.name);
  script += "    esac\n  done\n  case \"$command $prev\" in\n";
  add_values(script, root, root.name);
  script += "  esac\n  case $command in\n";
  add_commands(script, root, root.name);
  return script + tail;
}

}  // namespace attnprof
