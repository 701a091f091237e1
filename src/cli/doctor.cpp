#include "cli/doctor.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/safe_text.hpp"
#include "base/terminal_color.hpp"
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

constexpr const char* doctor_footer =
    "Asked for is what an option names (--device, --kernels, --cache-dir) or a variable (CUDACXX: nvcc, NVCC_CCBIN: "
    "its host compiler). What else is missing is said, and is no error: the simulator needs none of it.\n\n"
    "Examples:\n"
    "  attnprof doctor\n"
    "  attnprof doctor --device 0 && attnprof sweep --backend gpu -o out.csv\n"
    "  attnprof doctor --self-test -o self_test.csv\n\n"
    "Exit codes: 0 nothing that was asked for is missing, 1 --self-test counted otherwise than it should, 2 wrong "
    "usage, 3 something that was asked for is missing, or counters cannot be read for --self-test.";

class DoctorParser {
 public:
  explicit DoctorParser(CLI::App& app);
  DoctorCommand options(const Args&);

 private:
  std::vector<std::string> asked() const;

  const CLI::App& app_;
  DoctorCommand options_;
  std::string format_ = "text", device_ = "0";
};

DoctorParser::DoctorParser(CLI::App& app) : app_(app) {
  app.footer(doctor_footer);
  add_choice(app, "--format", format_, "text|json", "Standard output");
  app.add_flag("--self-test", options_.self_test,
               "Copy and fill known sizes and compare with the counters; measure the rate of mma.sync");
  app.add_option("--device", device_, "GPU number")->type_name("NUMBER")->default_str(device_);
  add_output(app, options_.output, "Self-test figures as CSV");
  add_compiler(app, options_.measure);
}

DoctorCommand DoctorParser::options(const Args&) {
  options_.json = choice<bool>("--format", format_, {{"text", false}, {"json", true}});
  if (!options_.self_test && !options_.output.empty())
    throw UsageError("-o keeps the figures of --self-test; give --self-test too, or leave -o out");
  refuse_both(options_.self_test && options_.json, "--self-test", "--format json");
  options_.measure.device = device_number(device_);
  options_.asked = asked();
  return options_;
}

// The topics of checks (examine_gpu, examine_compiler) that an option or a variable names.
std::vector<std::string> DoctorParser::asked() const {
  std::vector<std::string> topics;
  const auto given = [&](const char* name) { return app_.get_option(name)->count() > 0; };
  const auto is_set = [](const char* name) {
    const char* text = std::getenv(name);
    return text && *text;
  };
  if (given("--device")) topics = {"build", "driver", "GPU", fmt::format("GPU {}", options_.measure.device)};
  if (given("--kernels")) topics.emplace_back("kernels");
  if (given("--cache-dir")) topics.emplace_back("kernel cache");
  if (is_set("CUDACXX")) topics.emplace_back("nvcc");
  if (is_set("NVCC_CCBIN")) topics.emplace_back("host compiler");
  return topics;
}

std::vector<Check> examine_device([[maybe_unused]] int device) {
#if ATTNPROF_WITH_GPU
  return examine_gpu(device);
#else
  return {{Check::State::missing, "build", built_without_gpu}};
#endif
}

struct StateWord {
  const char* word;
  Tone tone;
};

StateWord word(Check::State state) {
  switch (state) {
    case Check::State::ok:
      return {"ok", Tone::good};
    case Check::State::missing:
      return {"missing", Tone::bad};
    case Check::State::note:
      break;
  }
  return {"note", Tone::doubtful};
}

// Topics of what is missing, of those in `asked` where it is given.
std::vector<std::string> missing_topics(const std::vector<Check>& checks,
                                        const std::vector<std::string>* asked = nullptr) {
  std::vector<std::string> topics;
  for (const Check& check : checks)
    if (check.state == Check::State::missing &&
        (!asked || std::ranges::find(*asked, check.topic) != asked->end()))
      topics.push_back(check.topic);
  return topics;
}

std::string last_line(const std::vector<Check>& checks, const std::vector<std::string>& asked) {
  const size_t missing = missing_topics(checks).size();
  if (missing == 0) return "nothing is missing\n";
  const std::vector<std::string> of_asked = missing_topics(checks, &asked);
  return fmt::format("{} missing{}{}\n", missing,
                     of_asked.empty() ? "" : ", of what was asked for: ", fmt::join(of_asked, ", "));
}

void print_text(const std::vector<Check>& checks, const DoctorOptions& options, std::ostream& out) {
  size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.topic.size());
  out << fmt::format("attnprof {} ({})\n", tool_version(), tool_commit());
  for (const Check& check : checks) {
    const auto [text, tone] = word(check.state);
    out << fmt::format("{} {:<{}}  {}\n", toned(tone, fmt::format("{:<8}", text), options.color), check.topic,
                       width, printable(check.text));
  }
  out << last_line(checks, options.asked);
}

void print_json(const std::vector<Check>& checks, std::ostream& out) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : checks)
    list.push_back({{"topic", check.topic}, {"state", word(check.state).word}, {"text", check.text}});
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
  options.json ? print_json(checks, out) : print_text(checks, options, out);
  return static_cast<int>(missing_topics(checks, &options.asked).empty() ? ExitCode::ok
                                                                         : ExitCode::environment);
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
    return run_self_test({.measure = command.measure, .output = command.output},
                         is_standard_output(command.output) ? std::cerr : std::cout);
  const auto automatic = [&] { return open(DeviceChoice{}, command.measure).why; };
  return run_doctor({.measure = command.measure,
                     .json = command.json,
                     .automatic_backend = automatic,
                     .asked = command.asked,
                     .color = wants_color(stdout)},
                    std::cout);
}

}  // namespace

extern const CommandEntry doctor_entry;
const CommandEntry doctor_entry{"doctor", "Say what works here, what is missing and what to do",
                                command_parser<DoctorParser, doctor_command>};

}  // namespace attnprof
