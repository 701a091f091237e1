#include "cli/command_tree.hpp"

#include <fmt/format.h>

#include "base/version.hpp"
#include "cli/help.hpp"

namespace attnprof {
namespace {

constexpr const char* about =
    "attnprof: an IO-aware attention profiler. It sweeps shapes and tile sizes over naive and flash attention and "
    "reports for every case whether the output is right, its time, the bytes that crossed HBM and the SMs "
    "(hardware counters on a GPU, a model without one), and where it sits under the roofline.";

constexpr const char* root_footer =
    "Examples:\n"
    "  attnprof doctor                      what works here, and what is missing\n"
    "  attnprof sweep -o out.csv            the default plan, measured or simulated\n"
    "  attnprof help sweep                  the options of a command\n"
    "  eval \"$(attnprof completion bash)\"   completion in this shell\n\n"
    "Nothing is run, loaded or compiled from where another user could have put it, unless ATTNPROF_TRUST (user ids "
    "and absolute folders, ':' between) says that you trust them.\n\n"
    "Exit codes: 0 all well, 1 a regression, or an incorrect or failed case, 2 wrong usage or unreadable input, 3 the "
    "environment lacks what was asked for, or nothing could be compared, 129, 130, 131, 138 and 143 ended by SIGHUP, "
    "SIGINT (Ctrl-C), SIGQUIT, SIGUSR1 and SIGTERM.";

}  // namespace

CommandTree::CommandTree() : root_(about, "attnprof") {
  const auto add_quiet = [this](CLI::App& app) {
    app.add_flag("--quiet", quiet_, "No progress and no notices; errors are said");
  };
  root_.formatter_fn(
      [](const CLI::App* app, const std::string&, CLI::AppFormatMode) { return help_text(*app); });
  root_.set_help_flag("-h,--help", "Show this help");
  root_.set_version_flag("-V,--version", fmt::format("attnprof {} ({})", tool_version(), tool_commit()),
                         "Show the version");
  root_.require_subcommand(1);
  root_.footer(root_footer);
  add_quiet(root_);
  for (const CommandEntry* entry : commands()) {
    CLI::App& app = *root_.add_subcommand(entry->name, entry->help);
    if (entry->hidden) app.group("");
    parsers_.emplace(&app, entry->parser(app));
    add_quiet(app);
    for (CLI::App* below : app.get_subcommands({})) add_quiet(*below);
  }
}

std::unique_ptr<Command> CommandTree::command(const Args& args) {
  std::unique_ptr<Command> command = parsers_.at(root_.get_subcommands().front())->command(args);
  command->quiet = quiet_;
  return command;
}

const CLI::App& parsed_command(const CLI::App& root) {
  const auto below = root.get_subcommands();
  return below.empty() ? root : parsed_command(*below.front());
}

std::vector<const CLI::App*> visible_commands(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* below) { return !below->get_group().empty(); });
}

std::vector<std::string> names_of(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string> names;
  for (const CLI::App* app : apps) names.push_back(app->get_name());
  return names;
}

const CLI::App* find_command(const CLI::App& app, std::string_view name) {
  const auto found = app.get_subcommands([&](const CLI::App* below) { return below->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

std::string full_name(const CLI::App& app) {
  return app.get_parent() ? full_name(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<const CLI::Option*> named_options(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() > 0; }

}  // namespace attnprof
