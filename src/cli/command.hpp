// What a command of the program is. Each is a file of its own, with its options beside what it does, and an
// entry in commands.cpp.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "run/open_backend.hpp"

namespace CLI {
class App;
}

namespace attnprof {

using Args = std::vector<std::string>;  // of a command line, without the program's name

// What a command line asks for, ready to run.
class Command {
 public:
  virtual ~Command() = default;
  virtual int run(const BackendOpener& open) const = 0;  // the exit code
  bool quiet = false;                                    // no progress and no notices (--quiet)
};

template <class Options>
class CommandOf : public Command {
 public:
  explicit CommandOf(Options what) : options(std::move(what)) {}
  const Options options;
};

template <class Options, auto perform>
class CommandThat final : public CommandOf<Options> {
 public:
  using CommandOf<Options>::CommandOf;
  int run(const BackendOpener& open) const override {
    if constexpr (std::is_invocable_v<decltype(perform), const Options&, const BackendOpener&>)
      return static_cast<int>(perform(this->options, open));
    else
      return static_cast<int>(perform(this->options));
  }
};

// The options of a command that is being parsed.
class CommandParser {
 public:
  virtual ~CommandParser() = default;
  // Once the command line is parsed. Throws UsageError.
  virtual std::unique_ptr<Command> command(const Args& args) = 0;
};

template <class Parser, auto perform>
class CommandParserOf final : public CommandParser {
 public:
  explicit CommandParserOf(CLI::App& app) : parser_(app) {}
  std::unique_ptr<Command> command(const Args& args) override {
    using Options = std::decay_t<decltype(parser_.options(args))>;
    return std::make_unique<CommandThat<Options, perform>>(parser_.options(args));
  }

 private:
  Parser parser_;
};

// `Parser` is made of the App that it adds its options to; its options(args) gives what they were, as plain
// data. `perform` takes these and, where it measures, who opens a backend; it returns the exit code.
template <class Parser, auto perform>
std::unique_ptr<CommandParser> command_parser(CLI::App& app) {
  return std::make_unique<CommandParserOf<Parser, perform>>(app);
}

struct CommandEntry {
  const char* name;
  const char* help;
  std::unique_ptr<CommandParser> (*parser)(CLI::App& app);
  bool hidden = false;         // started by attnprof itself, never by a person
  bool takes_program = false;  // what stands after -- is a program with its arguments
};

// In the order in which --help lists them.
const std::vector<const CommandEntry*>& commands();

}  // namespace attnprof
