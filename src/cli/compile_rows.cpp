#include "cli/compile_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/text_output.hpp"
#include "device/architectures.hpp"
#include "schedule/kernel_fields.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof {
namespace {

std::string text(const std::string& value) { return value; }
std::string text(const Count& value) { return value ? fmt::format("{}", *value) : ""; }

template <auto member>
std::string text_of(const KernelReport& report) {
  return fmt::format("{}", report.*member);
}
// Nothing is known of a kernel that did not compile.
template <auto member>
std::string built(const KernelReport& report) {
  return report.error.empty() ? text_of<member>(report) : "";
}
template <auto group, auto member>
std::string part(const KernelReport& report) {
  return text(report.*group.*member);
}

std::string ctas_per_sm(const KernelReport& report) {
  if (!report.error.empty()) return "";
  const BlockNeeds needs{report.threads, report.registers, report.smem_bytes};
  return fmt::format("{}", resident_ctas_per_sm(needs, *profile_of_architecture(report.arch)));
}

void add_field_columns(ReportColumns& columns) {
  const auto fields = kernel_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    columns.push_back({std::string(fields[i]->name),
                       [i](const KernelReport& report) { return report.settings.fields[i]; },
                       fields[i]->is_count(), true});
}

bool varies(const ReportColumn& column, const std::vector<KernelReport>& reports) {
  return std::ranges::any_of(reports, [&](const KernelReport& report) {
    return column.text(report) != column.text(reports.front());
  });
}

}  // namespace

ReportColumns report_columns(const std::string& run, const std::string& env_id) {
  const auto always = [](const std::string& value) { return [value](const KernelReport&) { return value; }; };
  ReportColumns columns = {{"variant", text_of<&KernelReport::variant>},
                           {"step", text_of<&KernelReport::step>},
                           {"arch", text_of<&KernelReport::arch>, false, true}};
  add_field_columns(columns);
  const ReportColumns more = {
      {"tile", part<&KernelReport::identity, &Identity::tile>},
      {"knobs", part<&KernelReport::identity, &Identity::knobs>, false, true},
      {"br", part<&KernelReport::settings, &KernelSettings::br>, true},
      {"bc", part<&KernelReport::settings, &KernelSettings::bc>, true},
      {"macros", part<&KernelReport::settings, &KernelSettings::macros>},
      {"run", always(run)},
      {"env_id", always(env_id)},
      {"knobs_used", part<&KernelReport::resolved, &Resolved::knobs_used>},
      {"threads_per_cta", text_of<&KernelReport::threads>, true},
      {"registers", built<&KernelReport::registers>, true},
      {"spill_bytes", built<&KernelReport::spill_bytes>, true},
      {"stack_bytes", built<&KernelReport::stack_bytes>, true},
      {"smem_bytes", built<&KernelReport::smem_bytes>, true},
      {"ctas_per_sm", ctas_per_sm, true},
      {"code_hash", built<&KernelReport::code_hash>},
      {"file", text_of<&KernelReport::file>},
      {"entry", text_of<&KernelReport::entry>},
      {"error", text_of<&KernelReport::error>},
  };
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

std::string for_people(const std::vector<KernelReport>& reports, const ReportColumns& columns) {
  std::vector<std::vector<std::string>> lines = {{"variant", "step"}};
  std::vector<const ReportColumn*> varying;
  for (const ReportColumn& column : columns)
    if (column.of_kernel && varies(column, reports)) varying.push_back(&column);
  for (const ReportColumn* column : varying) lines[0].emplace_back(column->name);
  for (const char* title : {"tile", "threads", "regs", "spills", "smem", "ctas/sm"})
    lines[0].emplace_back(title);
  for (const KernelReport& report : reports) {
    const Count &br = report.settings.br, &bc = report.settings.bc;
    lines.push_back({report.variant, report.step});
    for (const ReportColumn* column : varying) lines.back().push_back(column->text(report));
    lines.back().push_back(br ? fmt::format("{}x{}", *br, *bc) : "-");
    lines.back().push_back(fmt::format("{}", report.threads));
    for (auto figure : {built<&KernelReport::registers>, built<&KernelReport::spill_bytes>,
                        built<&KernelReport::smem_bytes>, ctas_per_sm})
      lines.back().push_back(report.error.empty() ? figure(report) : "-");
  }
  return format_lines(lines, Format::table);
}

}  // namespace attnprof
