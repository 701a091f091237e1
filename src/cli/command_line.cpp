#include "cli/command_line.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/standard_streams.hpp"
#include "base/version.hpp"

namespace attnprof {
namespace {

constexpr const char* about =
    "attnprof: an IO-aware attention profiler. It sweeps shapes and tile sizes over naive and flash attention and\n"
    "reports for every case whether the output is right, its time, the bytes that crossed HBM and the SMs (hardware\n"
    "counters on a GPU, a model without one), and where it sits under the roofline.";

constexpr const char* trust_footer =
    "Nothing is run, loaded or compiled from where another user could have put it, unless ATTNPROF_TRUST\n"
    "(user ids and absolute folders, ':' between) says that you trust them.";

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

bool takes_program(std::string_view name) {
  return std::ranges::any_of(
      commands(), [&](const CommandEntry* entry) { return entry->takes_program && entry->name == name; });
}

// Of a command that takes a program what is attnprof's own; of others everything.
Args before_program(const Args& args) {
  if (args.empty() || !takes_program(args.front())) return args;
  return {args.begin(), std::ranges::find(args, "--")};
}

const CLI::App& parsed_command(const CLI::App& root) {
  const auto commands = root.get_subcommands();
  return commands.empty() ? root : *commands.front();
}

bool is_command(const CLI::App& root, std::string_view word) {
  return !root.get_subcommands([&](const CLI::App* app) { return app->get_name() == word; }).empty();
}

// "sweep, tune, ...": those that a person may give.
std::string command_names(const CLI::App& root) {
  std::string names;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App* a) { return !a->get_group().empty(); }))
    names += (names.empty() ? "" : ", ") + app->get_name();
  return names;
}

// CLI11's own complaint as one of our sentences.
std::string sentence(const CLI::ParseError& error, const CLI::App& root, const Args& args) {
  if (args.empty())
    return fmt::format("a command is missing: give one of {}; see attnprof --help", command_names(root));
  if (!args.front().starts_with('-') && !is_command(root, args.front()))
    return fmt::format("'{}' is none of {}; see attnprof --help", args.front(), command_names(root));
  const bool before_command = !root.remaining().empty();
  const CLI::App& app = before_command ? root : parsed_command(root);
  const std::string command = &app == &root ? "attnprof" : "attnprof " + app.get_name();
  if (const auto extras = app.remaining(); !extras.empty()) {
    if (takes_program(app.get_name()) && !extras.front().starts_with('-'))
      return fmt::format("'{}' is no argument of {}; give the program after --, see {} --help",
                         extras.front(), command, command);
    return fmt::format("'{}' is no {} of {}; see {} --help", extras.front(),
                       extras.front().starts_with('-') ? "option" : "argument", command, command);
  }
  std::string what = error.what();
  std::ranges::replace(what, '\n', ' ');
  while (!what.empty() && (what.back() == ' ' || what.back() == '.')) what.pop_back();
  return fmt::format("{}; see {} --help", what, command);
}

using Parsers = std::map<const CLI::App*, std::unique_ptr<CommandParser>>;

Parsers add_commands(CLI::App& root) {
  Parsers parsers;
  for (const CommandEntry* entry : commands()) {
    CLI::App& app = *root.add_subcommand(entry->name, entry->help);
    if (entry->hidden) app.group("");
    parsers.emplace(&app, entry->parser(app));
  }
  return parsers;
}

ExitCode show_text(const ShowText& show) {
  print(show.text);
  return ExitCode::ok;
}

std::unique_ptr<Command> showing(std::string text) {
  return std::make_unique<CommandThat<ShowText, show_text>>(ShowText{std::move(text)});
}

}  // namespace

std::unique_ptr<Command> parse_command_line(const Args& args) {
  CLI::App root{about, "attnprof"};
  const Parsers parsers = add_commands(root);
  root.require_subcommand(1);
  root.footer(trust_footer);
  root.set_version_flag("--version", fmt::format("attnprof {} ({})", tool_version(), tool_commit()));
  try {
    Args reversed = join_negative_values(before_program(args));
    std::ranges::reverse(reversed);  // the order in which CLI11 takes them
    root.parse(std::move(reversed));
    return parsers.at(&parsed_command(root))->command(args);
  } catch (const CLI::CallForHelp&) {
    return showing(root.help());
  } catch (const CLI::CallForVersion& version) {
    return showing(std::string(version.what()) + "\n");
  } catch (const CLI::ParseError& error) {
    throw UsageError(sentence(error, root, args));
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
