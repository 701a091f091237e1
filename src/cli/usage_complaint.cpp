#include "cli/usage_complaint.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace attnprof {
namespace {

std::string see_help(const CLI::App& app) { return fmt::format("see {} --help", full_name(app)); }

std::string missing_command(const CLI::App& app) {
  return fmt::format("{} is missing: give one of {}; {}",
                     app.get_parent() ? "what " + full_name(app) + " shall do" : "a command",
                     fmt::join(names_of(visible_commands(app)), ", "), see_help(app));
}

// The name of the option in `text`, which may hold its value too; empty where it is none of the app's.
const CLI::Option* option_in(const CLI::App& app, std::string_view text) {
  for (const CLI::Option* option : named_options(app))
    for (const std::string& name : names_of(*option))
      if (text == name || (name.starts_with("--") && text.starts_with(name + "="))) return option;
  return nullptr;
}

// As it was written, else its longest name.
std::string name_in(const CLI::Option& option, const Args& args) {
  for (const std::string& arg : args)
    for (const std::string& name : names_of(option))
      if (arg == name || arg.starts_with(name + "=") || (!name.starts_with("--") && arg.starts_with(name)))
        return name;
  return option.get_name();
}

std::string unknown_option(const std::string& word, const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : named_options(app))
    for (const std::string& name : names_of(*option)) names.push_back(name);
  const std::string name = word.starts_with("--") ? word.substr(0, word.find('=')) : word;
  return fmt::format("'{}' is no option of {}{}", word, full_name(app),
                     did_you_mean(name, names, see_help(app)));
}

std::string extra(const std::string& word, const CLI::App& app) {
  if (word.starts_with('-') && word != "-") return unknown_option(word, app);
  if (!visible_commands(app).empty() && app.get_subcommands().empty()) return no_such_command(word, app);
  if (takes_program(app.get_name()))
    return fmt::format("'{}' is no argument of {}; give the program after --, {}", word, full_name(app),
                       see_help(app));
  return fmt::format("'{}' is no argument of {}; {}", word, full_name(app), see_help(app));
}

std::string required_is_missing(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options())
    if (option->get_required() && option->count() == 0)
      return fmt::format("{}{} is missing; {}",
                         option->nonpositional() ? names_of(*option).front() + " " : "",
                         option->get_type_name(), see_help(app));
  return missing_command(app);
}

// CLI11's text begins with the option's name.
const CLI::Option* option_named_by(const CLI::ParseError& error, const CLI::App& app) {
  const std::string text = error.what();
  return app.get_option_no_throw(text.substr(0, text.find(':')));
}

std::string wrong_count(const CLI::ParseError& error, const CLI::App& app, const Args& args) {
  const CLI::Option* option = option_named_by(error, app);
  if (!option) return "a value is missing, or given twice; " + see_help(app);
  const std::string name = name_in(*option, args);
  if (option->count() <= static_cast<size_t>(option->get_expected_max()))
    return fmt::format("{} needs a value: give {} {}; {}", name, name, option->get_type_name(),
                       see_help(app));
  return fmt::format("{} is given {} times; give it once", name, option->count());
}

// Of a switch that was given a value.
std::string no_value(const CLI::App& app, const Args& args) {
  for (const std::string& arg : args)
    if (const CLI::Option* option = option_in(app, arg);
        option && !takes_value(*option) && arg.find('=') != std::string::npos)
      return fmt::format("{} is a switch without a value; leave out '{}'", arg.substr(0, arg.find('=')),
                         arg.substr(arg.find('=')));
  return "a value cannot be read; " + see_help(app);
}

std::string contradiction(const CLI::App& app, const Args& args) {
  for (const CLI::Option* option : app.get_options())
    for (const CLI::Option* other : option->get_excludes())
      if (option->count() > 0 && other->count() > 0)
        return fmt::format("{} and {} contradict each other; give one of them", name_in(*option, args),
                           name_in(*other, args));
  return "options contradict each other; " + see_help(app);
}

// What a check of ours says of a value: "--output: the name is empty".
std::string of_a_check(const CLI::ParseError& error, const CLI::App& app) {
  std::string what = error.what();
  std::ranges::replace(what, '\n', ' ');
  return fmt::format("{}; {}", what, see_help(app));
}

const CLI::App& command_of(const CLI::App& root, const Args& args) {
  const CLI::App* app = &root;
  for (const std::string& arg : args) {
    const CLI::App* below = find_command(*app, arg);
    if (below) app = below;
    if (!below && !arg.starts_with('-')) break;
  }
  return *app;
}

}  // namespace

std::string no_such_command(const std::string& word, const CLI::App& app) {
  const std::vector<std::string> names = names_of(visible_commands(app));
  return fmt::format("'{}' is none of {}{}", word, fmt::join(names, ", "),
                     did_you_mean(word, names, see_help(app)));
}

bool takes_program(std::string_view command) {
  return std::ranges::any_of(
      commands(), [&](const CommandEntry* entry) { return entry->takes_program && entry->name == command; });
}

void refuse_what_is_taken_for_another(const CLI::App& root, const Args& args) {
  const auto word = std::ranges::find_if(args, [](const std::string& arg) { return !arg.starts_with('-'); });
  if (word != args.end() && !find_command(root, *word)) {
    const bool before =
        std::any_of(args.begin(), word, [&](const std::string& arg) { return !option_in(root, arg); });
    if (!before) throw UsageError(no_such_command(*word, root));
  }
  const CLI::App& app = command_of(root, args);
  for (size_t i = 0; i + 1 < args.size(); ++i) {
    const CLI::Option* option = option_in(app, args[i]);
    if (!option || !takes_value(*option) || args[i].find('=') != std::string::npos) continue;
    if (const std::string& next = args[++i]; next.starts_with('-') && option_in(app, next))
      throw UsageError(fmt::format("{} needs a value, and {} follows: give {} {}; {}", args[i - 1], next,
                                   args[i - 1], option->get_type_name(), see_help(app)));
  }
}

std::string complaint(const CLI::ParseError& error, const CLI::App& root, const Args& args) {
  if (args.empty()) return missing_command(root);
  const CLI::App& app = root.remaining().empty() ? parsed_command(root) : root;
  if (const auto extras = app.remaining(); !extras.empty()) return extra(extras.front(), app);
  if (dynamic_cast<const CLI::RequiredError*>(&error)) return required_is_missing(app);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error)) return wrong_count(error, app, args);
  if (dynamic_cast<const CLI::ConversionError*>(&error)) return no_value(app, args);
  if (dynamic_cast<const CLI::ExcludesError*>(&error)) return contradiction(app, args);
  return of_a_check(error, app);
}

}  // namespace attnprof
