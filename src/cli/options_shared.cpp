// Options that several subcommands share: how and on what a case is measured, files, formats.
#include <charconv>
#include <limits>

#include "cli/options_detail.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

BackendChoice parse_backend(const std::string& text) {
  return choice<BackendChoice>(
      "--backend", text,
      {{"auto", BackendChoice::automatic}, {"gpu", BackendChoice::gpu}, {"sim", BackendChoice::sim}});
}

}  // namespace

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

OwnVariantFlags::OwnVariantFlags(CLI::App& app, const std::string& group) {
  const auto add = [&](const char* name, std::vector<std::string>& files, const char* help) {
    app.add_option(name, files, help)->allow_extra_args(false)->type_name("FILE")->group(group);
  };
  add("--variant-file", own_.files, "A kernel file's JSON, see attnprof new-variant; may be repeated");
  add("--plugin", own_.plugins, "A shared library, see attnprof_plugin.h; may be repeated");
}

std::vector<std::string> OwnVariantFlags::load() const {
  return load_own_variants(own_, PluginCode::elsewhere);
}

CLI::Option* add_name(CLI::App& app, const std::string& names, std::string& name, const std::string& help,
                      const std::string& type) {
  const auto not_empty = [](const std::string& text) {
    return text.empty() ? "the name is empty" : std::string();
  };
  return app.add_option(names, name, help)->type_name(type)->check(not_empty);
}

void add_result_files(CLI::App& app, std::vector<std::string>& files) {
  app.add_option("files", files, "Results of attnprof sweep or scripts/peers/peers.py")
      ->type_name("ROWS.csv")
      ->required();
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

std::string command_line_of(const std::vector<std::string>& args) {
  std::string text = "attnprof";
  for (const std::string& arg : args) text += " " + arg;
  return text;
}

MeasureFlags::MeasureFlags(CLI::App& app) {
  app.add_option("--backend", backend_, "auto, gpu or sim; auto says why it chose")->default_str(backend_);
  add_target(app, choice_);
  app.add_option("--device", device_, "GPU number")->type_name("NUMBER")->default_str(device_);
  app.add_option("--counters", counters_, "Hardware counters: auto, on (fail without), off")
      ->default_str(counters_);
  app.add_option("--ceilings", ceilings_, "Of the GPU: auto (measured once and kept) or off")
      ->default_str(ceilings_);
  app.add_option("--verify", verify_, "Check outputs against fp64: sampled, full or off")
      ->default_str(verify_);
  app.add_option("--precision", precision_, "Time until the median is known to this")
      ->default_str(precision_);
  app.add_option("--max-time", max_time_, "Time one case at most this long")->default_str(max_time_);
  app.add_option("--case-timeout", case_timeout_, "A case that takes longer has failed")
      ->default_str(case_timeout_);
  app.add_option("--seed", seed_, "Of the random inputs")->type_name("NUMBER")->default_str(seed_);
  app.add_option("--input", input_, "Random inputs: normal, or outliers, one in a thousand far larger")
      ->default_str(input_);
  add_compiler(app, measure_);
}

MeasureOptions MeasureFlags::measure() const {
  MeasureOptions m = measure_;
  m.verify = choice<VerifyMode>(
      "--verify", verify_,
      {{"sampled", VerifyMode::sampled}, {"full", VerifyMode::full}, {"off", VerifyMode::off}});
  m.counters = choice<CounterMode>(
      "--counters", counters_,
      {{"auto", CounterMode::automatic}, {"on", CounterMode::on}, {"off", CounterMode::off}});
  m.ceilings = choice<bool>("--ceilings", ceilings_, {{"auto", true}, {"off", false}});
  m.precision = parse_percent("--precision", precision_);
  m.max_time_s = parse_seconds("--max-time", max_time_);
  m.case_timeout_s = parse_seconds("--case-timeout", case_timeout_);
  m.seed = static_cast<uint64_t>(whole_number("--seed", seed_, std::numeric_limits<int64_t>::max()));
  m.input = choice<InputKind>("--input", input_,
                              {{"normal", InputKind::normal}, {"outliers", InputKind::outliers}});
  m.device = static_cast<int>(whole_number("--device", device_, 1023));
  return m;
}

DeviceChoice MeasureFlags::device() const {
  DeviceChoice device = choice_;
  device.backend = parse_backend(backend_);
  refuse_two_targets(device);
  return device;
}

}  // namespace attnprof
