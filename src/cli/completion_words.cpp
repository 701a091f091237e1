#include "cli/completion_words.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "cli/command_tree.hpp"
#include "cli/usage_complaint.hpp"
#include "device/architectures.hpp"
#include "device/device_profiles.hpp"
#include "problem/problem_fields.hpp"
#include "row/schema.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using Words = std::vector<std::string>;

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  for (const char c : text) c == separator ? parts.emplace_back() : parts.back() += c;
  return parts;
}

Words variant_names() {
  Words names;
  for (const Variant* variant : all_variants()) names.emplace_back(variant->name);
  return names;
}

Words target_names() {
  Words names;
  for (const DeviceProfile& profile : all_profiles()) names.push_back(profile.name);
  return names;
}

Words known_columns() {
  Words names = {"all"};
  for (const Column& column : schema()) names.emplace_back(column.name);
  return names;
}

Words command_names(const CLI::App& app) {
  const CLI::App* root = &app;
  while (root->get_parent()) root = root->get_parent();
  return names_of(visible_commands(*root));
}

bool has_name(const CLI::Option& option, std::string_view name) {
  const std::vector<std::string> names = names_of(option);
  return std::ranges::find(names, name) != names.end();
}

// Of the axis of a field of the problem that has words.
Words field_words(const CLI::Option& option) {
  for (const ProblemField& field : problem_fields())
    for (const std::string& name : split(std::string(field.axis.option), ','))
      if (!name.empty() && !field.is_count() && has_name(option, name)) {
        const auto words = field.words();
        return {words.begin(), words.end()};
      }
  return {};
}

// What there is of what the option names, where that is known.
Words known_words(const CLI::Option& option, const CLI::App& app) {
  if (!option.nonpositional() && option.get_type_name() == "COMMAND") return command_names(app);
  if (has_name(option, "--variant") || has_name(option, "--against")) return variant_names();
  if (has_name(option, "--target")) return target_names();
  if (has_name(option, "--columns")) return known_columns();
  if (has_name(option, "--cache")) return {"cold", "warm", "both"};
  if (has_name(option, "--arch")) return architecture_names();
  return field_words(option);
}

CompletedOption completed_option(const CLI::Option& option, const CLI::App& app) {
  CompletedOption it{.names = option.nonpositional() ? names_of(option) : Words{},
                     .help = option.get_description(),
                     .takes_value = takes_value(option),
                     .metavar = takes_value(option) ? option.get_type_name() : "",
                     .words = {}};
  if (!it.takes_value) return it;
  if (it.metavar.find('|') != std::string::npos) {
    it.words = split(it.metavar, '|');
    it.value = Completed::word;
  } else if (it.metavar.starts_with("FILE") || it.metavar.ends_with(".csv")) {
    it.value = Completed::file;
  } else if (it.metavar == "DIR") {
    it.value = Completed::folder;
  } else if (it.words = known_words(option, app); !it.words.empty()) {
    it.value = it.metavar == "LIST" ? Completed::list : Completed::word;
  }
  return it;
}

}  // namespace

CompletedCommand completed_command(const CLI::App& app) {
  CompletedCommand it{.name = app.get_name(),
                      .help = app.get_description(),
                      .options = {},
                      .arguments = {},
                      .commands = {},
                      .takes_program = takes_program(app.get_name())};
  for (const CLI::Option* option : named_options(app)) it.options.push_back(completed_option(*option, app));
  for (const CLI::Option* option : app.get_options())
    if (!option->nonpositional()) it.arguments.push_back(completed_option(*option, app));
  for (const CLI::App* below : visible_commands(app)) it.commands.push_back(completed_command(*below));
  return it;
}

}  // namespace attnprof
