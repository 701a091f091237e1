#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/distinct_files.hpp"
#include "base/output_file.hpp"
#include "base/output_place.hpp"
#include "base/replace_file.hpp"
#include "base/signal_end.hpp"
#include "base/standard_streams.hpp"
#include "cli/command.hpp"
#include "cli/compile.hpp"
#include "cli/compile_progress.hpp"
#include "cli/flags/axes.hpp"
#include "cli/flags/measure.hpp"
#include "cli/flags/names.hpp"
#include "cli/flags/values.hpp"
#include "cli/inputs.hpp"
#include "cli/text_output.hpp"
#include "device/device_profiles.hpp"
#include "files/meta.hpp"
#include "measure/compile/compile_plan.hpp"
#include "plan/grammar.hpp"
#include "problem/problem_fields.hpp"

namespace attnprof {
namespace {

const std::string compile_footer =
    std::string(axes_footer) +
    "Examples:\n"
    "  attnprof compile --arch sm_80,sm_90a --variant flash2 -d 64,128 -o build.csv\n\n"
    "Exit codes: 0 all compiled, 1 a kernel does not compile, 2 wrong usage, 3 no compiler, no\n"
    "kernel, or -o cannot be written.";

class CompileParser {
 public:
  explicit CompileParser(CLI::App& app);
  CompileCommand options(const Args&);

 private:
  CompileCommand options_;
  AxisOptions axes_;
  std::vector<std::string> archs_;
  std::string jobs_ = "0", format_ = "table";
};

CompileParser::CompileParser(CLI::App& app) : axes_(app) {
  app.add_option("--arch", archs_, "Targets of nvcc, such as sm_80,sm_90a,sm_100a")
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

CompileCommand CompileParser::options(const Args&) {
  options_.axes = axes_.axes();
  options_.archs = parse_words("--arch", archs_);
  options_.jobs = static_cast<int>(whole_number("--jobs", jobs_, 1024));
  options_.format = parse_format(format_, false);
  return options_;
}

// One line of the output: a kernel of one architecture and a case that runs it.
struct ReportColumn {
  std::string name;
  std::function<std::string(const KernelReport&, const KernelUse&)> text;
  bool number = false;
  bool of_kernel = false;  // kernels are compiled for it: shown to people where it varies
};
using ReportColumns = std::vector<ReportColumn>;

template <auto member>
std::string text_of(const KernelReport& report, const KernelUse& = {}) {
  return fmt::format("{}", report.*member);
}
// Nothing is known of a kernel that did not compile.
template <auto member>
std::string built(const KernelReport& report, const KernelUse& = {}) {
  return report.error.empty() ? text_of<member>(report) : "";
}
std::string text(const std::string& value) { return value; }
std::string text(const Count& value) { return value ? fmt::format("{}", *value) : ""; }
template <auto group, auto member>
std::string of_case(const KernelReport&, const KernelUse& use) {
  return text(use.*group.*member);
}
template <auto member>
constexpr auto identity = of_case<&KernelUse::identity, member>;
template <auto member>
constexpr auto resolved = of_case<&KernelUse::resolved, member>;

// Which tile `auto` is may hang on every size of the case.
void add_problem_columns(ReportColumns& columns) {
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    columns.push_back(
        {std::string(fields[i].name),
         [i](const KernelReport&, const KernelUse& use) { return use.identity.problem.text(i); },
         fields[i].is_count(), fields[i].in_kernel || !fields[i].macro.empty()});
}

// The first, up to the knobs, are what `attnprof gate` matches on.
ReportColumns report_columns() {
  ReportColumns columns = {{"variant", identity<&Identity::variant>},
                           {"step", text_of<&KernelReport::step>},
                           {"arch", text_of<&KernelReport::arch>, false, true}};
  add_problem_columns(columns);
  const ReportColumns more = {
      {"tile", identity<&Identity::tile>},
      {"knobs", identity<&Identity::knobs>, false, true},
      {"br", resolved<&Resolved::br>, true},
      {"bc", resolved<&Resolved::bc>, true},
      {"knobs_used", resolved<&Resolved::knobs_used>},
      {"threads_per_cta", text_of<&KernelReport::threads>, true},
      {"registers", built<&KernelReport::registers>, true},
      {"spill_bytes", built<&KernelReport::spill_bytes>, true},
      {"stack_bytes", built<&KernelReport::stack_bytes>, true},
      {"smem_bytes", built<&KernelReport::smem_bytes>, true},
      {"code_hash", built<&KernelReport::code_hash>},
      {"file", text_of<&KernelReport::file>},
      {"entry", text_of<&KernelReport::entry>},
      {"error", text_of<&KernelReport::error>},
  };
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::vector<std::vector<std::string>> report_lines(const std::vector<KernelReport>& reports) {
  const ReportColumns columns = report_columns();
  std::vector<std::vector<std::string>> lines(1);
  for (const ReportColumn& column : columns) lines[0].push_back(column.name);
  // Cases that differ only in what no kernel depends on are one line.
  std::set<std::vector<std::string>> seen;
  for (const KernelReport& report : reports)
    for (const KernelUse& use : report.uses) {
      std::vector<std::string> line;
      for (const ReportColumn& column : columns) line.push_back(column.text(report, use));
      if (seen.insert(line).second) lines.push_back(std::move(line));
    }
  return lines;
}

bool varies(const ReportColumn& column, const std::vector<KernelReport>& reports) {
  return std::ranges::any_of(reports, [&](const KernelReport& report) {
    return column.text(report, report.uses.front()) !=
           column.text(reports.front(), reports.front().uses.front());
  });
}

// One line a kernel: what varies and the key figures, under short titles.
std::string for_people(const std::vector<KernelReport>& reports) {
  std::vector<std::vector<std::string>> lines = {{"variant", "step"}};
  const ReportColumns columns = report_columns();
  std::vector<const ReportColumn*> varying;
  for (const ReportColumn& column : columns)
    if (column.of_kernel && varies(column, reports)) varying.push_back(&column);
  for (const ReportColumn* column : varying) lines[0].emplace_back(column->name);
  for (const char* title : {"tile", "threads", "regs", "spills", "smem"}) lines[0].emplace_back(title);
  for (const KernelReport& report : reports) {
    lines.push_back({report.variant, report.step});
    for (const ReportColumn* column : varying)
      lines.back().push_back(column->text(report, report.uses.front()));
    lines.back().push_back(report.br ? fmt::format("{}x{}", report.br, report.bc) : "-");
    lines.back().push_back(fmt::format("{}", report.threads));
    for (auto figure : {built<&KernelReport::registers>, built<&KernelReport::spill_bytes>,
                        built<&KernelReport::smem_bytes>})
      lines.back().push_back(report.error.empty() ? figure(report, {}) : "-");
  }
  return format_lines(lines, Format::table);
}

std::vector<size_t> number_columns() {
  std::vector<size_t> numbers;
  const ReportColumns columns = report_columns();
  for (size_t i = 0; i < columns.size(); ++i)
    if (columns[i].number) numbers.push_back(i);
  return numbers;
}

const DeviceProfile& profile_with(const std::string& arch) {
  std::set<std::string> known;
  for (const DeviceProfile& profile : all_profiles()) {
    if (profile.arch == arch) return profile;
    known.insert(profile.arch);
  }
  throw UsageError(fmt::format("--arch '{}' is none of {}: tiles are chosen for a device that is known", arch,
                               fmt::join(known, ", ")));
}

// The cases of one architecture.
struct ArchPlan {
  std::string arch;
  const DeviceProfile& device;
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
    const DeviceProfile& device = profile_with(arch);
    plans.push_back({arch, device, expand(options.axes, device, device.hbm_bytes)});
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

void write_rows(const std::string& path, const std::vector<std::vector<std::string>>& lines,
                const std::string& kernels_dir) {
  if (writable_place(path).kind() != OutputPlace::Kind::stream)
    replace_file(meta_path(path), build_meta(kernel_tree(kernels_dir)));
  replace_file(path, format_lines(lines, Format::csv));
}

ExitCode compile_command(const CompileCommand& options) {
  check_distinct(with_meta({options.output}), plan_inputs({}, options.measure));
  if (!options.output.empty()) check_new_file(options.output, options.overwrite);
  const std::vector<ArchPlan> plans = plans_of(options);
  KernelCompiler compiler(compile_options(options.measure));
  if (!compiler.notice().empty()) say(compiler.notice());
  const EndNote note("what was compiled until then is in the kernel cache");
  const std::vector<KernelReport> reports = compile_all(plans, compiler, options.jobs);
  const auto lines = report_lines(reports);
  if (!options.output.empty()) write_rows(options.output, lines, compiler.kernels_dir());
  if (!is_standard_output(options.output))
    print(options.format == Format::table ? for_people(reports)
                                          : format_lines(lines, options.format, number_columns()));
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
