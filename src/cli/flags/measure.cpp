#include "cli/flags/measure.hpp"

#include <limits>

#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

BackendChoice parse_backend(const std::string& text) {
  return choice<BackendChoice>(
      "--backend", text,
      {{"auto", BackendChoice::automatic}, {"gpu", BackendChoice::gpu}, {"sim", BackendChoice::sim}});
}

}  // namespace

void refuse_two_targets(const DeviceChoice& device) {
  refuse_both(!device.target.empty() && !device.target_file.empty(), "--target", "--target-file");
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
      ->default_str("$XDG_CACHE_HOME/attnprof, else ~/.cache/attnprof");
}

MeasureFlags::MeasureFlags(CLI::App& app) {
  const auto add = [&](const char* name, std::string& text, const char* type, const char* help) {
    app.add_option(name, text, help)->type_name(type)->default_str(text);
  };
  add_choice(app, "--backend", backend_, "auto|gpu|sim", "What measures; auto says why it chose");
  add_target(app, choice_);
  add("--device", device_, "NUMBER", "GPU number");
  add_choice(app, "--counters", counters_, "auto|on|off", "Hardware counters; on: fail without");
  add_choice(app, "--ceilings", ceilings_, "auto|off",
             "What the GPU does at most; auto: measured once and kept");
  add_choice(app, "--verify", verify_, "sampled|full|off", "Check outputs against fp64");
  add("--precision", precision_, "PERCENT", "Time until the median is known to this");
  add("--max-time", max_time_, "TIME", "Time one case at most this long");
  add("--case-timeout", case_timeout_, "TIME", "A case that takes longer has failed");
  add("--seed", seed_, "NUMBER", "Of the random inputs");
  add_choice(app, "--input", input_, "normal|outliers",
             "Random inputs; outliers: one in a thousand is far larger");
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
  m.device = device_number(device_);
  return m;
}

DeviceChoice MeasureFlags::device() const {
  DeviceChoice device = choice_;
  device.backend = parse_backend(backend_);
  refuse_two_targets(device);
  return device;
}

}  // namespace attnprof
