#include "measure/compile/compile_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <system_error>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "plan/identity.hpp"
#include "schedule/compiled_part.hpp"
#include "schedule/kernel_fields.hpp"

namespace attnprof {
namespace {

struct PlannedKernel {
  std::vector<const Case*> cases;  // that run it, its owner first
  std::string step;
  KernelLaunch launch;
};

// Everything that makes two launches the same code and the same row of a report.
std::string key_of(const Case& c, const KernelLaunch& kernel) {
  std::string key = std::string(c.variant->name) + '\0' + kernel.file + '\0' + kernel.entry;
  for (const auto& [name, value] : kernel.macros) key += '\0' + name + "=" + value;
  return key;
}

std::vector<PlannedKernel> planned_kernels(const std::vector<Case>& cases) {
  std::vector<PlannedKernel> kernels;
  std::map<std::string, size_t> known;
  for (const Case& c : cases) {
    if (c.skip) continue;
    for (const Step& step : c.steps)
      if (const KernelLaunch* kernel = compiled_part(step)) {
        const auto [entry, added] = known.try_emplace(key_of(c, *kernel), kernels.size());
        if (added) kernels.push_back({{}, step.name, *kernel});
        PlannedKernel& planned = kernels[entry->second];
        if (planned.cases.empty() || planned.cases.back() != &c) planned.cases.push_back(&c);
        planned.launch.threads = std::max(planned.launch.threads, kernel->threads);
        planned.launch.smem_bytes = std::max(planned.launch.smem_bytes, kernel->smem_bytes);
      }
  }
  return kernels;
}

const std::string* macro_value(const KernelLaunch& kernel, std::string_view name) {
  for (const auto& [macro, value] : kernel.macros)
    if (macro == name) return &value;
  return nullptr;
}

// A later field's macro is left out at the value that its absence means.
std::string field_text(const ProblemField& field, const Problem& problem, const KernelLaunch& kernel) {
  if (macro_value(kernel, macro_of(field))) return field.text(problem);
  return field.first_schema ? "" : std::string(field.absent);
}

KernelSettings settings_of(const Case& c, const KernelLaunch& kernel) {
  KernelSettings settings;
  std::vector<std::string_view> named = {"TILE_BR", "TILE_BC"};
  for (const ProblemField* field : kernel_fields()) {
    settings.fields.push_back(field_text(*field, c.problem, kernel));
    named.push_back(macro_of(*field));
  }
  if (macro_value(kernel, "TILE_BR") && c.tile.br > 0) settings.br = c.tile.br, settings.bc = c.tile.bc;
  for (const auto& [macro, value] : kernel.macros)
    if (std::ranges::find(named, macro) == named.end())
      settings.macros += fmt::format("{}{}={}", settings.macros.empty() ? "" : " ", macro, value);
  if (settings.macros.empty()) settings.macros = "-";
  return settings;
}

Identity identity_of(const PlannedKernel& kernel) {
  Identity identity = identity_of(*kernel.cases.front());
  if (std::ranges::any_of(kernel.cases, [](const Case* c) { return to_string(c->requested) == "auto"; }))
    identity.tile = "auto";
  return identity;
}

KernelReport report_of(const PlannedKernel& kernel, const std::string& arch, KernelCompiler& compiler) {
  const Case& c = *kernel.cases.front();
  KernelReport report{.identity = identity_of(kernel),
                      .resolved = resolved_of(c),
                      .settings = settings_of(c, kernel.launch),
                      .variant = std::string(c.variant->name),
                      .step = kernel.step,
                      .file = kernel.launch.file,
                      .entry = kernel.launch.entry,
                      .arch = arch,
                      .threads = kernel.launch.threads,
                      .code_hash = "",
                      .error = ""};
  try {
    const CompiledKernel compiled = compiler.compile(kernel.launch, arch);
    report.registers = compiled.registers;
    report.spill_bytes = compiled.spill_store_bytes + compiled.spill_load_bytes;
    report.stack_bytes = compiled.stack_bytes;
    report.smem_bytes = compiled.static_smem_bytes + compiled.dynamic_smem_bytes;
    report.code_hash = compiled.code_hash;
  } catch (const CaseFailed& failed) {
    report.error = failed.what();
  }
  return report;
}

size_t background_jobs() { return std::max(1u, std::thread::hardware_concurrency()) - 1; }

}  // namespace

std::vector<KernelReport> compile_plan(const std::vector<Case>& cases, const std::vector<std::string>& archs,
                                       KernelCompiler& compiler, int jobs,
                                       const std::function<void(size_t, size_t)>& progress) {
  const std::vector<PlannedKernel> kernels = planned_kernels(cases);
  std::vector<KernelReport> reports(kernels.size() * archs.size());
  std::mutex progress_mutex;
  size_t done = 0;
  const auto work = [&](int64_t index) {
    const auto i = static_cast<size_t>(index);
    reports[i] = report_of(kernels[i / archs.size()], archs[i % archs.size()], compiler);
    const std::lock_guard lock(progress_mutex);
    if (progress) progress(++done, reports.size());
  };
  const size_t wanted = jobs > 0 ? static_cast<size_t>(jobs) : background_jobs();
  for_each_in_parallel(static_cast<int64_t>(reports.size()), wanted, work);
  return reports;
}

std::string compiled_sentence(const std::vector<KernelReport>& reports, const std::string& arch) {
  const auto failed =
      std::ranges::count_if(reports, [](const auto& report) { return !report.error.empty(); });
  const auto compiled = std::ssize(reports) - failed;
  return fmt::format("{} kernel{} compiled for {}{}", compiled, compiled == 1 ? "" : "s", arch,
                     failed > 0 ? fmt::format(", {} did not compile", failed) : "");
}

std::vector<KernelLaunch> kernels_of(const std::vector<Case>& cases) {
  std::vector<KernelLaunch> kernels;
  for (PlannedKernel& kernel : planned_kernels(cases)) kernels.push_back(std::move(kernel.launch));
  return kernels;
}

CompileAhead::CompileAhead(const std::vector<Case>& cases, const DeviceProfile& device,
                           KernelCompiler& compiler)
    : kernels_(kernels_of(cases)) {
  const auto work = [this, &compiler, arch = device.arch] {
    for (size_t i = next_++; i < kernels_.size() && !stop_; i = next_++) {
      try {
        compiler.compile(kernels_[i], arch, &stop_);
      } catch (const std::exception&) {
        // The case itself compiles again, and reports it.
      }
    }
  };
  try {
    for (size_t i = 0; i < std::min<size_t>({background_jobs(), kernels_.size(), 8}); ++i)
      threads_.emplace_back(work);
  } catch (const std::system_error&) {  // the limit of threads is reached: cases compile their own kernels
  }
}

CompileAhead::~CompileAhead() {
  stop_ = true;
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace attnprof
