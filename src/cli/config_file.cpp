// --config FILE: options of a subcommand in a TOML or INI file, under the subcommand's name.
#include <fstream>

#include "cli/options_detail.hpp"
#include "report/csv.hpp"

namespace attnprof {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw UsageError(fmt::format("config file {}: {}", file, why));
}

CLI::Option* option_named(CLI::App& app, const std::string& key) {
  CLI::Option* option = app.get_option_no_throw("--" + key);
  if (!option && key.size() == 1) option = app.get_option_no_throw("-" + key);
  return option;
}

void apply(CLI::App& app, const CLI::ConfigItem& item, const std::string& file) {
  const std::string section = fmt::format("{}", fmt::join(item.parents, "."));
  if (section.empty())
    refuse(file,
           fmt::format("key '{}' stands outside a section; put it under [{}]", item.name, app.get_name()));
  if (section != app.get_name())
    refuse(file, fmt::format("section [{}] is unknown; this command reads [{}]", section, app.get_name()));
  CLI::Option* option = option_named(app, item.name);
  if (!option || !option->get_configurable())
    refuse(file,
           fmt::format("key '{}' is unknown in section [{}]; keys are the long options of attnprof {} --help",
                       item.name, section, section));
  if (option->count() > 0) return;  // the command line wins
  try {
    if (option->get_expected_max() == 0) {
      const bool on = choice<bool>("key '" + item.name + "'", item.inputs.empty() ? "" : item.inputs.front(),
                                   {{"true", true}, {"false", false}});
      if (on) option->add_result("true");
    } else {
      option->add_result(item.inputs);
    }
    if (option->count() > 0) option->run_callback();
  } catch (const CLI::Error& error) {
    refuse(file, fmt::format("key '{}': {}", item.name, error.what()));
  } catch (const UsageError& error) {
    refuse(file, error.what());
  }
}

// CLI11's reader passes over lines too short to mean anything to it.
void refuse_short_lines(const std::string& text, const std::string& file) {
  std::istringstream lines(text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    CLI::detail::trim(line);
    if (line.empty() || line.size() > 2 || line.front() == '#' || line.front() == ';' || line == "]")
      continue;
    refuse(file, fmt::format("line {}: '{}' is no key = value", number, line));
  }
}

}  // namespace

void apply_config_file(CLI::App& app, const std::string& file) {
  const std::string text = read_text_file(file);
  refuse_short_lines(text, file);
  std::istringstream stream(text);
  bool section_seen = false;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    const bool ours = item.parents == std::vector<std::string>{app.get_name()};
    section_seen |= ours;
    const bool marker = item.name == "++" || item.name == "--";  // a section's begin or end
    if (!ours || !marker) apply(app, item, file);
  }
  if (!section_seen) refuse(file, fmt::format("section [{}] is missing", app.get_name()));
}

}  // namespace attnprof
