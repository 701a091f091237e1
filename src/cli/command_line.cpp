#include "cli/command_line.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "cli/command_tree.hpp"
#include "cli/usage_complaint.hpp"

namespace attnprof {
namespace {

// A negative number after an option is its value, to be refused as such; CLI11 would take it for an option.
Args join_negative_values(const Args& args) {
  Args joined;
  for (const std::string& arg : args) {
    const bool negative = arg.size() > 1 && arg[0] == '-' && (arg[1] >= '0' && arg[1] <= '9');
    const bool after_option =
        !joined.empty() && joined.back().starts_with('-') && joined.back().find('=') == std::string::npos;
    if (negative && after_option)
      joined.back() += (joined.back().starts_with("--") ? "=" : "") + arg;
    else
      joined.push_back(arg);
  }
  return joined;
}

// Of a command that takes a program what is attnprof's own; of others everything.
Args before_program(const Args& args) {
  const auto command =
      std::ranges::find_if(args, [](const std::string& arg) { return !arg.starts_with('-'); });
  if (command == args.end() || !takes_program(*command)) return args;
  return {args.begin(), std::ranges::find(args, "--")};
}

// "help baseline update" is "baseline update --help"; "help" alone the help of all.
Args without_help_command(const CLI::App& root, const Args& args) {
  if (args.empty() || args.front() != "help") return args;
  if (args.size() > 1 && args[1].starts_with('-')) return args;  // of `help` itself
  Args rest(args.begin() + 1, args.end());
  const CLI::App* app = &root;
  for (const std::string& word : rest)
    if (const CLI::App* below = find_command(*app, word))
      app = below;
    else
      throw UsageError(no_such_command(word, *app));
  rest.emplace_back("--help");
  return rest;
}

ExitCode show_text(const ShowText& show) {
  print(show.text);
  return ExitCode::ok;
}

std::unique_ptr<Command> showing(std::string text) {
  return std::make_unique<CommandThat<ShowText, show_text>>(ShowText{std::move(text)});
}

}  // namespace

std::unique_ptr<Command> parse_command_line(const Args& given) {
  CommandTree tree;
  CLI::App& root = tree.root();
  const Args args = join_negative_values(before_program(without_help_command(root, given)));
  refuse_what_is_taken_for_another(root, args);
  try {
    root.parse(Args(args.rbegin(), args.rend()));  // the order in which CLI11 takes them
    return tree.command(given);
  } catch (const CLI::CallForHelp&) {
    return showing(root.help());
  } catch (const CLI::CallForVersion& version) {
    return showing(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw UsageError(complaint(error, root, args));
  }
}

bool is_hidden_command(const Args& args) {
  return !args.empty() && std::ranges::any_of(commands(), [&](const CommandEntry* entry) {
    return entry->hidden && entry->name == args.front();
  });
}

std::string command_line_of(const Args& args) {
  std::string text = "attnprof";
  for (const std::string& arg : args) text += " " + arg;
  return text;
}

}  // namespace attnprof
