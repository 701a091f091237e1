#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "base/signal_end.hpp"
#include "base/standard_streams.hpp"
#include "cli/build_rows.hpp"
#include "cli/command.hpp"
#include "cli/command_line.hpp"
#include "cli/compile.hpp"
#include "cli/compile_progress.hpp"
#include "cli/compile_rows.hpp"
#include "cli/flags/axes.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/inputs.hpp"
#include "cli/text_output.hpp"
#include "device/architectures.hpp"
#include "files/build_meta.hpp"
#include "files/env_id.hpp"
#include "files/meta.hpp"
#include "measure/comparable_facts.hpp"
#include "measure/compile/compile_plan.hpp"
#include "plan/grammar.hpp"

namespace attnprof {
namespace {

const std::string compile_footer =
    std::string(axes_footer) +
    "Examples:\n"
    "  attnprof compile --arch sm_80,sm_90a --variant flash2 -d 64,128 -o build.csv\n\n"
    "Exit codes: 0 all compiled, 1 a kernel does not compile, 2 wrong usage, 3 no\n"
    "compiler, no kernel, or -o cannot be written.";

class CompileParser {
 public:
  explicit CompileParser(CLI::App& app);
  CompileCommand options(const Args& args);

 private:
  CompileCommand options_;
  AxisOptions axes_;
  std::vector<std::string> archs_;
  std::string jobs_ = "0", format_ = "table";
};

CompileParser::CompileParser(CLI::App& app) : axes_(app) {
  app.add_option("--arch", archs_, "Targets of nvcc: sm_80,sm_86,sm_90a,sm_120a")
      ->allow_extra_args(false)
      ->required()
      ->type_name("LIST");
  app.add_option("--jobs", jobs_, "Compilations at a time; 0: one less than there are cores")
      ->type_name("NUMBER")
      ->default_str(jobs_);
  add_compiler(app, options_.measure);
  add_output(app, options_.output, "CSV to write, with FILE.meta.json");
  app.add_flag("--overwrite", options_.overwrite, "Start FILE again");
  add_choice(app, "--format", format_, "table|csv|json", "Standard output");
  app.footer(compile_footer);
}

CompileCommand CompileParser::options(const Args& args) {
  options_.command_line = command_line_of(args);
  options_.axes = axes_.axes();
  options_.archs = parse_words("--arch", archs_);
  options_.jobs = static_cast<int>(whole_number("--jobs", jobs_, 1024));
  options_.format = parse_format(format_, false);
  return options_;
}

DeviceProfile profile_with(const std::string& arch) {
  if (auto profile = profile_of_architecture(arch)) return *profile;
  throw UsageError(fmt::format("--arch '{}' is none of {}", arch, known_architectures()));
}

// The cases of one architecture.
struct ArchPlan {
  std::string arch;
  std::vector<Case> cases;
};

// Why there is no kernel: of skipped cases the first one's reason.
std::string why_no_kernel(const std::vector<ArchPlan>& plans) {
  for (const ArchPlan& plan : plans)
    for (const Case& c : plan.cases)
      if (c.skip) return *c.skip;
  return "every case is a library's";
}

std::vector<ArchPlan> plans_of(const CompileCommand& options) {
  std::vector<ArchPlan> plans;
  bool empty = true;
  for (const std::string& arch : options.archs) {
    const DeviceProfile device = profile_with(arch);
    plans.push_back({arch, expand(options.axes, device, device.hbm_bytes)});
    empty &= kernels_of(plans.back().cases).empty();
  }
  if (empty)
    throw EnvironmentError(fmt::format("the plan has no kernel to compile: {}", why_no_kernel(plans)));
  return plans;
}

std::vector<KernelReport> compile_all(const std::vector<ArchPlan>& plans, KernelCompiler& compiler,
                                      int jobs) {
  std::vector<KernelReport> all;
  for (const ArchPlan& plan : plans) {
    const auto reports = compile_watched(plan.cases, plan.arch, compiler, jobs);
    all.insert(all.end(), reports.begin(), reports.end());
  }
  return all;
}

// Flags beside the command's own change the machine code as well.
std::string nvcc_flags() {
  std::string all;
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"})
    if (const char* flags = std::getenv(name); flags && *flags)
      all += fmt::format("{}{}", all.empty() ? "" : " ", flags);
  return all.empty() ? "-" : all;
}

BuildRun build_run(const CompileCommand& options, const KernelCompiler& compiler) {
  return {.run = new_run_id(),
          .command = "compile",
          .command_line = options.command_line,
          .environment = {{"nvcc", compiler.toolchain().version}, {"nvcc_flags", nvcc_flags()}},
          .comparable = names_of(compiled_facts),
          .kernels = kernel_tree(compiler.kernels_dir())};
}

ExitCode compile_command(const CompileCommand& options) {
  check_distinct(with_meta({options.output}), plan_inputs({}, options.measure));
  if (!options.output.empty()) check_new_file(options.output, options.overwrite);
  const std::vector<ArchPlan> plans = plans_of(options);
  KernelCompiler compiler(compile_options(options.measure));
  if (!compiler.notice().empty()) say(compiler.notice());
  const EndNote note("what was compiled until then is in the kernel cache");
  const std::vector<KernelReport> reports = compile_all(plans, compiler, options.jobs);
  const BuildRun run = build_run(options, compiler);
  const ReportColumns columns = report_columns(run.run, env_id(run));
  const auto lines = column_lines(reports, columns);
  if (!options.output.empty()) write_build_rows(options.output, lines, run);
  if (!is_standard_output(options.output))
    print(options.format == Format::table ? for_people(reports, columns)
                                          : format_lines(lines, options.format, number_columns(columns)));
  for (const KernelReport& report : reports)
    if (!report.error.empty())
      warn(fmt::format("{} {} for {}: {}", report.file, report.entry, report.arch, report.error));
  if (options.output.empty()) say("nothing was written; -o FILE.csv keeps these rows");
  return std::ranges::all_of(reports, [](const KernelReport& report) { return report.error.empty(); })
             ? ExitCode::ok
             : ExitCode::failed;
}

}  // namespace

extern const CommandEntry compile_entry;
const CommandEntry compile_entry{"compile", "Build the kernels of a plan; needs no GPU",
                                 command_parser<CompileParser, compile_command>};

}  // namespace attnprof
