#include "cli/help.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <sstream>

#include "base/text_table.hpp"
#include "cli/command_tree.hpp"
#include "cli/usage_complaint.hpp"

namespace attnprof {
namespace {

constexpr size_t help_width = 80;
constexpr size_t option_column = 26, command_column = 15;  // where what is said of each begins

bool stays(const std::string& line) { return line.empty() || line.front() == ' ' || line.back() == ':'; }

std::string filled(const std::string& text) {
  std::string result, paragraph;
  const auto end_paragraph = [&] {
    result += wrap_words(paragraph, help_width, "");
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (stays(line)) {
      end_paragraph();
      result += line + "\n";
    } else {
      paragraph += line + " ";
    }
  end_paragraph();
  return result;
}

// `left` and beside it, or below where it is too long, what it means.
std::string entry(const std::string& left, const std::string& meaning, size_t column) {
  const std::string indent(column, ' ');
  const std::string right = wrap_words(meaning, help_width, indent);
  if (left.size() + 2 > column) return left + "\n" + right;
  return right.empty() ? left + "\n" : fmt::format("{:<{}}{}", left, column, right.substr(column));
}

std::string meaning(const CLI::Option& option) {
  std::string text = option.get_description();
  if (option.get_required()) text += " (required)";
  if (const std::string preset = option.get_default_str(); takes_value(option) && !preset.empty())
    text += fmt::format(" (default: {})", preset);
  return text;
}

std::string option_entry(const CLI::Option& option) {
  const std::string value = takes_value(option) ? " " + option.get_type_name() : "";
  return entry(fmt::format("  {}{}", fmt::join(names_of(option), ", "), value), meaning(option),
               option_column);
}

std::vector<const CLI::Option*> positionals(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// "ROWS.csv...".
std::string positional_name(const CLI::Option& option) {
  return option.get_type_name() + (option.get_expected_max() > 1 ? "..." : "");
}

std::string usage(const CLI::App& app) {
  std::string text = fmt::format("Usage: {} [OPTIONS]", full_name(app));
  for (const CLI::Option* option : positionals(app))
    text += option->get_required() ? " " + positional_name(*option)
                                   : fmt::format(" [{}]", positional_name(*option));
  if (!visible_commands(app).empty()) text += " COMMAND";
  if (takes_program(app.get_name())) text += " -- COMMAND";
  return text + "\n";
}

std::string positionals_text(const CLI::App& app) {
  std::string text;
  for (const CLI::Option* option : positionals(app))
    text += entry("  " + option->get_type_name(), option->get_description(), option_column);
  return text.empty() ? "" : "\nArguments:\n" + text;
}

std::string groups_text(const CLI::App& app) {
  std::string text;
  for (const std::string& group : app.get_groups()) {
    std::string options;
    for (const CLI::Option* option : named_options(app))
      if (option->get_group() == group && !group.empty()) options += option_entry(*option);
    if (!options.empty()) text += fmt::format("\n{}:\n{}", group, options);
  }
  return text;
}

std::string commands_text(const CLI::App& app) {
  std::string text;
  for (const CLI::App* below : visible_commands(app))
    text += entry("  " + below->get_name(), below->get_description(), command_column);
  return text.empty() ? "" : "\nCommands:\n" + text;
}

}  // namespace

std::string help_text(const CLI::App& app) {
  std::string text = filled(app.get_description()) + "\n" + usage(app) + positionals_text(app) +
                     groups_text(app) + commands_text(app);
  if (!app.get_footer().empty()) text += "\n" + filled(app.get_footer());
  return text;
}

}  // namespace attnprof
