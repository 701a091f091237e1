#include "cli/doctor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/safe_text.hpp"
#include "base/version.hpp"
#include "cli/command.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/without_gpu.hpp"
#include "measure/compile/examine_compiler.hpp"
#if ATTNPROF_WITH_GPU
#include "measure/gpu/examine_gpu.hpp"
#include "measure/gpu/known_sizes.hpp"
#endif

namespace attnprof {
namespace {

class DoctorParser {
 public:
  explicit DoctorParser(CLI::App& app);
  DoctorCommand options(const Args&);

 private:
  DoctorCommand options_;
  std::string format_ = "text", device_ = "0";
};

DoctorParser::DoctorParser(CLI::App& app) {
  app.add_option("--format", format_, "text or json")->default_str(format_);
  app.add_flag("--self-test", options_.self_test,
               "Copy and fill known sizes and compare with the counters; measure the rate of mma.sync");
  app.add_option("--device", device_, "GPU number")->default_str(device_);
  add_name(app, "-o,--output", options_.output, "Self-test figures as CSV", "FILE");
  add_compiler(app, options_.measure);
}

DoctorCommand DoctorParser::options(const Args&) {
  options_.json = choice<bool>("--format", format_, {{"text", false}, {"json", true}});
  if (!options_.self_test && !options_.output.empty())
    throw UsageError("-o keeps the figures of --self-test; give --self-test too, or leave -o out");
  refuse_both(options_.self_test && options_.json, "--self-test", "--format json");
  options_.measure.device = device_number(device_);
  return options_;
}

std::vector<Check> examine_device([[maybe_unused]] int device) {
#if ATTNPROF_WITH_GPU
  return examine_gpu(device);
#else
  return {{Check::State::missing, "build", built_without_gpu}};
#endif
}

const char* word(Check::State state) {
  switch (state) {
    case Check::State::ok:
      return "ok";
    case Check::State::missing:
      return "missing";
    case Check::State::note:
      break;
  }
  return "note";
}

void print_text(const std::vector<Check>& checks, std::ostream& out) {
  size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.topic.size());
  out << fmt::format("attnprof {} ({})\n", tool_version(), tool_commit());
  for (const Check& check : checks)
    out << fmt::format("{:<8} {:<{}}  {}\n", word(check.state), check.topic, width, printable(check.text));
  const auto missing = std::count_if(checks.begin(), checks.end(),
                                     [](const Check& check) { return check.state == Check::State::missing; });
  out << (missing == 0 ? "nothing is missing\n" : fmt::format("{} missing\n", missing));
}

void print_json(const std::vector<Check>& checks, std::ostream& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : checks)
    list.push_back({{"topic", check.topic}, {"state", word(check.state)}, {"text", check.text}});
  const nlohmann::json document = {
      {"version", tool_version()}, {"commit", tool_commit()}, {"findings", list}};
  out << document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
}

}  // namespace

// The backend first: counters are read by one process at a time, and its worker has ended before this one
// tries.
std::vector<Check> examine_all(const DoctorOptions& options) {
  std::vector<Check> automatic;
  if (options.automatic_backend) automatic.push_back(examine("auto", options.automatic_backend));
  std::vector<Check> checks = examine_device(options.measure.device);
  for (Check& check : examine_compiler(options.measure.kernels_dir, options.measure.cache_dir))
    checks.push_back(std::move(check));
  checks.insert(checks.end(), automatic.begin(), automatic.end());
  return checks;
}

int run_doctor(const DoctorOptions& options, std::ostream& out) {
  const std::vector<Check> checks = examine_all(options);
  options.json ? print_json(checks, out) : print_text(checks, out);
  return static_cast<int>(ExitCode::ok);
}

int run_self_test([[maybe_unused]] const SelfTestOptions& options, [[maybe_unused]] std::ostream& out) {
#if ATTNPROF_WITH_GPU
  return static_cast<int>(self_test(options.measure, options.output, out));
#else
  throw EnvironmentError(built_without_gpu);
#endif
}

namespace {

int doctor_command(const DoctorCommand& command, const BackendOpener& open) {
  if (command.self_test)
    return run_self_test({.measure = command.measure, .output = command.output}, std::cout);
  const auto automatic = [&] { return open(DeviceChoice{}, command.measure).why; };
  return run_doctor({.measure = command.measure, .json = command.json, .automatic_backend = automatic},
                    std::cout);
}

}  // namespace

extern const CommandEntry doctor_entry;
const CommandEntry doctor_entry{"doctor", "Say what works here, what is missing and what to do",
                                command_parser<DoctorParser, doctor_command>};

}  // namespace attnprof
