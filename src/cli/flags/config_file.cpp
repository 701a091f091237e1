#include "cli/flags/config_file.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "base/csv.hpp"
#include "cli/flags/values.hpp"

namespace attnprof {
namespace {

[[noreturn]] void refuse(const std::string& file, const std::string& why) {
  throw UsageError(fmt::format("config file {}: {}", file, why));
}

std::string section_of(const CLI::ConfigItem& item) {
  return fmt::format("{}", fmt::join(item.parents, "."));
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

// Whether `section` is another command's, which reads it by its own --config.
bool of_another_command(const CLI::App& app, const std::string& section) {
  const CLI::App* root = app.get_parent();
  return root && section != app.get_name() &&
         !root->get_subcommands([&](const CLI::App* command) {
                return command->get_name() == section && command->get_option_no_throw("--config");
              })
              .empty();
}

// The option that `item` is a value of.
CLI::Option& option_of(CLI::App& app, const CLI::ConfigItem& item, const std::string& file) {
  const std::string section = section_of(item);
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

struct Key {
  std::string section, name;
  size_t line;
};

// Where the keys of a file stand, by the rules of CLI11's reader, which adds the values of a key that is
// given again to those it has. It also passes over lines too short to mean anything to it: these are refused.
class KeyLines {
 public:
  KeyLines(const std::string& text, const std::string& file) : lines_(text), file_(file) {}

  std::vector<Key> all() {
    std::vector<Key> keys;
    std::string section;
    for (std::string line; next(line);) {
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      if (line.size() < 3) refuse(file_, fmt::format("line {}: '{}' is no key = value", number_, line));
      if (line.front() == '[' && line.back() == ']') {
        section = line.starts_with("[[") && line.ends_with("]]") ? line.substr(1, line.size() - 2) : line;
        continue;
      }
      const size_t equals = line.find('='), first = number_;
      std::string name =
          CLI::detail::trim_copy(line.substr(0, equals == std::string::npos ? line.find('#') : equals));
      CLI::detail::remove_quotes(name);
      keys.push_back({section, std::move(name), first});
      if (equals != std::string::npos) pass_list(CLI::detail::trim_copy(line.substr(equals + 1)));
    }
    return keys;
  }

 private:
  bool next(std::string& line) {
    if (!std::getline(lines_, line)) return false;
    ++number_;
    CLI::detail::trim(line);
    return true;
  }
  // A list may go on over lines, up to one that ends in a bracket.
  void pass_list(std::string value) {
    value = CLI::detail::trim_copy(value.substr(0, value.find('#')));
    if (value.size() < 2 || value.front() != '[') return;
    for (std::string line; value.back() != ']' && next(line);) value += line;
  }

  std::istringstream lines_;
  const std::string& file_;
  size_t number_ = 0;
};

// Also by two names of one option: the command line has both as one axis, but in a file one of them is
// forgotten.
void refuse_keys_given_twice(CLI::App& app, const std::string& text, const std::string& file) {
  std::map<std::pair<std::string, std::string>, Key> known;
  for (const Key& key : KeyLines(text, file).all()) {
    const CLI::Option* option =
        key.section == "[" + app.get_name() + "]" ? option_named(app, key.name) : nullptr;
    const auto [first, added] = known.try_emplace({key.section, option ? option->get_name() : key.name}, key);
    if (!added)
      refuse(file, fmt::format("line {}: key '{}' is given twice, also in line {} as '{}'; keep one",
                               key.line, key.name, first->second.line, first->second.name));
  }
}

}  // namespace

void apply_config_file(CLI::App& app, const std::string& file) {
  apply_config_text(app, read_text_file(file), file);
}

void apply_config_text(CLI::App& app, const std::string& whole, const std::string& file) {
  const std::string text(without_byte_order_mark(whole));
  refuse_keys_given_twice(app, text, file);
  std::istringstream stream(text);
  bool section_seen = false;
  const std::vector<CLI::Option*> on_command_line =
      app.get_options([](const CLI::Option* option) { return option->count() > 0; });
  std::set<const CLI::Option*> given;
  std::vector<CLI::ConfigItem> used;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_config(stream)) {
    const bool ours = section_of(item) == app.get_name();
    if (of_another_command(app, section_of(item))) continue;
    section_seen |= ours;
    const bool marker = item.name == "++" || item.name == "--";  // a section's begin or end
    if (ours && marker) continue;
    CLI::Option& option = option_of(app, item, file);
    if (!given.insert(&option).second)  // once with its section before it, "sweep.seed"
      refuse(file, fmt::format("key '{}' is given twice; keep one", item.name));
    if (std::ranges::find(on_command_line, &option) != on_command_line.end()) continue;  // that one wins
    naming_the_file(file, item.name, [&] { add_values(option, item); });
    used.push_back(item);
  }
  if (!section_seen) refuse(file, fmt::format("section [{}] is missing", app.get_name()));
  // After all values, so that a list is one.
  for (const CLI::ConfigItem& item : used)
    if (CLI::Option& option = option_of(app, item, file); option.count() > 0)
      naming_the_file(file, item.name, [&] { option.run_callback(); });
}

}  // namespace attnprof
