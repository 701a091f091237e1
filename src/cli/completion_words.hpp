// What a shell completes of attnprof's command line, taken from the options that there are.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace attnprof {

enum class Completed { nothing, file, folder, word, list };  // a list: words with commas between

struct CompletedOption {
  std::vector<std::string> names;
  std::string help;
  bool takes_value = false;
  Completed value = Completed::nothing;
  std::string metavar;
  std::vector<std::string> words;
};

struct CompletedCommand {
  std::string name, help;
  std::vector<CompletedOption> options;
  std::vector<CompletedOption> arguments;  // without names
  std::vector<CompletedCommand> commands;  // beneath it
  bool takes_program = false;
};

CompletedCommand completed_command(const CLI::App& app);

// Scripts to be read by the shell.
std::string bash_completion(const CompletedCommand& root);
std::string zsh_completion(const CompletedCommand& root);

}  // namespace attnprof
