#include "cli/flags/config_file.hpp"

#include <algorithm>
#include <sstream>

#include "base/csv.hpp"
#include "cli/flags/values.hpp"

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

// Calls `read` and names the file in what it throws.
template <class Read>
void naming_the_file(const std::string& file, const std::string& key, Read read) {
  try {
    read();
  } catch (const CLI::Error& error) {
    refuse(file, fmt::format("key '{}': {}", key, error.what()));
  } catch (const UsageError& error) {
    refuse(file, error.what());
  }
}

// The option that `item` is a value of.
CLI::Option& option_of(CLI::App& app, const CLI::ConfigItem& item, const std::string& file) {
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
  return *option;
}

void add_values(CLI::Option& option, const CLI::ConfigItem& item) {
  if (option.get_expected_max() != 0) {
    option.add_result(item.inputs);
    return;
  }
  const bool on = choice<bool>("key '" + item.name + "'", item.inputs.empty() ? "" : item.inputs.front(),
                               {{"true", true}, {"false", false}});
  if (on) option.add_result("true");
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
  const std::string text(without_byte_order_mark(read_text_file(file)));
  refuse_short_lines(text, file);
  std::istringstream stream(text);
  bool section_seen = false;
  const std::vector<CLI::Option*> on_command_line =
      app.get_options([](const CLI::Option* option) { return option->count() > 0; });
  std::vector<CLI::ConfigItem> used;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    const bool ours = item.parents == std::vector<std::string>{app.get_name()};
    section_seen |= ours;
    const bool marker = item.name == "++" || item.name == "--";  // a section's begin or end
    if (ours && marker) continue;
    CLI::Option& option = option_of(app, item, file);
    if (std::ranges::find(on_command_line, &option) != on_command_line.end()) continue;  // that one wins
    naming_the_file(file, item.name, [&] { add_values(option, item); });
    used.push_back(item);
  }
  if (!section_seen) refuse(file, fmt::format("section [{}] is missing", app.get_name()));
  // After all values: a key given twice is an axis given twice, or one value too many.
  for (const CLI::ConfigItem& item : used)
    if (CLI::Option& option = option_of(app, item, file); option.count() > 0)
      naming_the_file(file, item.name, [&] { option.run_callback(); });
}

}  // namespace attnprof
