// attnprof ceilings: what the GPU does at most, measured.
#include <fmt/format.h>

#include "base/output_file.hpp"
#include "base/standard_streams.hpp"
#include "cli/commands.hpp"
#include "cli/doctor.hpp"
#include "cli/text_output.hpp"
#include "files/meta.hpp"
#if ATTNPROF_WITH_GPU
#include "measure/gpu/ceilings.hpp"
#endif

namespace attnprof {
namespace {

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

}  // namespace

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
  fmt::print("{}", command.format == Format::table ? ceiling_table(device, ceilings)
                                                   : format_lines(lines, command.format, {2, 3, 4, 5, 6, 7}));
  if (!command.output.empty()) replace_file(command.output, format_lines(lines, Format::csv));
  return ExitCode::ok;
#else
  throw EnvironmentError(built_without_gpu);
#endif
}

}  // namespace attnprof
