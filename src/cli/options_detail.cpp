#include "cli/options_detail.hpp"

#include <charconv>

namespace attnprof {

int64_t whole_number(std::string_view option, std::string_view text, int64_t largest) {
  int64_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0 || value > largest)
    throw UsageError(fmt::format("{} '{}': give a whole number from 0 to {}", option, text, largest));
  return value;
}

Format parse_format(const std::string& text, bool markdown) {
  if (markdown && text == "markdown") return Format::markdown;
  return choice<Format>("--format", text,
                        {{"table", Format::table}, {"csv", Format::csv}, {"json", Format::json}});
}

void refuse_both(bool both, const char* a, const char* b) {
  if (both) throw UsageError(fmt::format("{} and {} contradict each other; give one of them", a, b));
}

void refuse_two_targets(const DeviceChoice& device) {
  refuse_both(!device.target.empty() && !device.target_file.empty(), "--target", "--target-file");
}

CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? "the name is empty" : std::string();
  };
  return app.add_option(names, name, help)->type_name(type)->check(not_empty);
}

void add_target(CLI::App& app, DeviceChoice& device) {
  add_name(app, "--target", device.target, "Simulated device, see attnprof list", "NAME")
      ->default_str(std::string(default_target));
  add_name(app, "--target-file", device.target_file, "Simulated device from a JSON profile of your own",
           "FILE");
}

void add_compiler(CLI::App& app, MeasureOptions& measure) {
  add_name(app, "--kernels", measure.kernels_dir, "Kernel sources", "DIR")->default_str("beside the program");
  add_name(app, "--cache-dir", measure.cache_dir, "Compiled kernels are kept here", "DIR")
      ->default_str("XDG_CACHE_HOME/attnprof");
}

}  // namespace attnprof
