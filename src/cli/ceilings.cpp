// attnprof ceilings: what the GPU does at most, measured.
#include <fmt/format.h>

#include "base/output_file.hpp"
#include "base/replace_file.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/flags/format.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/text_output.hpp"
#include "cli/without_gpu.hpp"
#if ATTNPROF_WITH_GPU
#include "measure/gpu/ceilings.hpp"
#endif

namespace attnprof {
namespace {

struct CeilingsCommand {
  MeasureOptions measure;  // device, kernels_dir, cache_dir
  Format format = Format::table;
  std::string output;
  bool overwrite = false;
};

class CeilingsParser {
 public:
  explicit CeilingsParser(CLI::App& app);
  CeilingsCommand options(const Args&);

 private:
  CeilingsCommand command_;
  std::string format_ = "table", device_ = "0";
};

CeilingsParser::CeilingsParser(CLI::App& app) {
  app.footer(
      "Each on random data, the median of 40 launches of about 1 ms; spread: 90th less 10th percentile. Rates of the\n"
      "SMs go with their clock, which heavy products lower: the clock they ran at is beside them. What is measured\n"
      "replaces what sweeps have kept of this GPU.\n\n"
      "Examples:\n"
      "  attnprof ceilings\n"
      "  attnprof ceilings --device 1 --format json\n"
      "  attnprof ceilings -o ceilings.csv\n\n"
      "Exit codes: 0 all well, 2 wrong usage, 3 no GPU that can be measured, or -o\n"
      "cannot be written.");
  app.add_option("--device", device_, "GPU number")->type_name("NUMBER")->default_str(device_);
  add_choice(app, "--format", format_, "table|csv|json", "Standard output");
  add_output(app, command_.output, "CSV to write");
  app.add_flag("--overwrite", command_.overwrite, "Write over FILE");
  add_compiler(app, command_.measure);
}

CeilingsCommand CeilingsParser::options(const Args&) {
  command_.format = parse_format(format_, false);
  command_.measure.device = device_number(device_);
  return command_;
}

using Lines = std::vector<std::vector<std::string>>;

[[maybe_unused]] Lines ceiling_lines(const std::string& device, const Ceilings& ceilings, int digits) {
  Lines lines = {{"device", "name", "median", "spread_pct", "samples", "sm_clock_mhz", "nominal",
                  "of_nominal_pct", "what"}};
  const auto number = [digits](double value) { return fmt::format("{:.{}g}", value, digits); };
  for (const CeilingKind& kind : ceiling_kinds) {
    const auto found = ceilings.find(kind.name);
    if (found == ceilings.end()) continue;
    const Ceiling& c = found->second;
    lines.push_back({device, std::string(kind.name), number(c.median), fmt::format("{:.2g}", c.spread_pct),
                     std::to_string(c.samples), c.sm_clock_mhz ? fmt::format("{:.0f}", *c.sm_clock_mhz) : "",
                     c.nominal ? number(*c.nominal) : "",
                     c.nominal ? fmt::format("{:.1f}", 100 * c.median / *c.nominal) : "",
                     std::string(kind.what)});
  }
  return lines;
}

// For people the device is said once, above.
[[maybe_unused]] std::string ceiling_table(const std::string& device, const Ceilings& ceilings) {
  Lines lines = ceiling_lines(device, ceilings, 4);
  for (auto& line : lines) {
    line.erase(line.begin());
    line.erase(line.begin() + 3);  // samples
  }
  return device + "\n" + format_lines(lines, Format::table);
}

ExitCode ceilings_command([[maybe_unused]] const CeilingsCommand& command) {
#if ATTNPROF_WITH_GPU
  const CeilingObserver progress = [](std::string_view name, const Ceiling& ceiling) {
    say(fmt::format("{} {:.4g}", name, ceiling.median));
  };
  if (!command.output.empty()) check_new_file(command.output, command.overwrite);
  const RenewedCeilings renewed = renew_ceilings(command.measure, progress);
  for (const std::string& notice : renewed.measured.notices) say("attnprof: " + notice);
  const Ceilings& ceilings = renewed.measured.ceilings;
  const std::string& device = renewed.device.name;
  const Lines lines = ceiling_lines(device, ceilings, 7);
  if (!is_standard_output(command.output))
    print(command.format == Format::table ? ceiling_table(device, ceilings)
                                          : format_lines(lines, command.format, {2, 3, 4, 5, 6, 7}));
  if (!command.output.empty()) replace_file(command.output, format_lines(lines, Format::csv));
  return ExitCode::ok;
#else
  throw EnvironmentError(built_without_gpu);
#endif
}

}  // namespace

extern const CommandEntry ceilings_entry;
const CommandEntry ceilings_entry{"ceilings", "Measure what the GPU does at most: memory, caches, products",
                                  command_parser<CeilingsParser, ceilings_command>};

}  // namespace attnprof
