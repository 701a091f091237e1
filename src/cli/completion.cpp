// `attnprof completion SHELL`, and `attnprof help COMMAND`, which is told before it gets here.
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/command_tree.hpp"
#include "cli/completion_words.hpp"
#include "cli/flags/values.hpp"

namespace attnprof {
namespace {

struct CompletionCommand {
  std::string (*script)(const CompletedCommand&) = bash_completion;
};

class CompletionParser {
 public:
  explicit CompletionParser(CLI::App& app);
  CompletionCommand options(const Args&) const;

 private:
  std::string shell_;
};

CompletionParser::CompletionParser(CLI::App& app) {
  app.footer(
      "Prints a script that the shell reads: commands, options, and what their values can be.\n\n"
      "Examples:\n"
      "  eval \"$(attnprof completion bash)\"             in this shell\n"
      "  attnprof completion bash > ~/.local/share/bash-completion/completions/attnprof\n"
      "  attnprof completion zsh > ~/.zfunc/_attnprof   a folder of $fpath\n\n"
      "Exit codes: 0 all well, 2 wrong usage, 3 standard output cannot be written.");
  app.add_option("SHELL", shell_, "The shell that reads the script")->type_name("bash|zsh")->required();
}

CompletionCommand CompletionParser::options(const Args&) const {
  using Script = decltype(CompletionCommand::script);
  return {choice<Script>("completion", shell_, {{"bash", bash_completion}, {"zsh", zsh_completion}})};
}

ExitCode completion_command(const CompletionCommand& command) {
  print(command.script(completed_command(CommandTree().root())));
  return ExitCode::ok;
}

struct HelpCommand {};

class HelpParser {
 public:
  explicit HelpParser(CLI::App& app);
  HelpCommand options(const Args&) const { return {}; }

 private:
  std::vector<std::string> commands_;
};

HelpParser::HelpParser(CLI::App& app) {
  app.footer(
      "Examples:\n"
      "  attnprof help\n"
      "  attnprof help sweep\n"
      "  attnprof help baseline update\n\n"
      "Exit codes: 0 all well, 2 a command that there is none of, 3 standard output cannot be written.");
  app.add_option("COMMAND", commands_, "The command to explain")->type_name("COMMAND");
}

// What asks for the help of a command is parsed as its --help (command_line.cpp).
ExitCode help_command(const HelpCommand&) {
  print(CommandTree().root().help());
  return ExitCode::ok;
}

}  // namespace

extern const CommandEntry completion_entry, help_entry;
const CommandEntry completion_entry{"completion", "Print what a shell needs to complete this command line",
                                    command_parser<CompletionParser, completion_command>};
const CommandEntry help_entry{"help", "Explain a command: attnprof help sweep",
                              command_parser<HelpParser, help_command>};

}  // namespace attnprof
