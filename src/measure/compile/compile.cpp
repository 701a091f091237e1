#include "measure/compile/compile.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/installation.hpp"
#include "base/trusted_path.hpp"
#include "measure/compile/code_hash.hpp"
#include "measure/compile/ptxas_report.hpp"
#include "measure/compile/run_nvcc.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// The whole command, by the user's own paths, the compiler, and the environment that changes what nvcc does.
std::string key_of(const std::vector<std::string>& command, const Toolchain& toolchain) {
  std::string all = toolchain.version_text;
  for (const std::string& word : command) all += word + '\0';
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"}) {
    const char* value = std::getenv(name);
    all += fmt::format("{}={}", name, value ? value : "") + '\0';
  }
  return content_hash(all);
}

// Whose file it is that a compiled source includes is known once the compiler has said what it read.
void require_trusted_includes(const std::string& file, const std::vector<std::string>& read_files) {
  for (const std::string& each : read_files)
    if (const std::string refusal = examine_trust(each).refusal; !refusal.empty())
      throw CaseFailed(fmt::format("{} is not used: it includes {}, and {}", file, each, refusal));
}

Toolchain toolchain_of(const CompileOptions& options) {
  return options.nvcc.empty() ? find_toolchain() : find_toolchain({options.nvcc});
}

}  // namespace

CompileOptions compile_options(const MeasureOptions& options) {
  return {.kernels_dir = options.kernels_dir, .cache_dir = options.cache_dir, .nvcc = ""};
}

KernelCompiler::KernelCompiler(const CompileOptions& options)
    : toolchain_(toolchain_of(options)),
      kernels_dir_(find_kernels_dir(options.kernels_dir)),
      cache_(options.cache_dir) {}

std::string KernelCompiler::source_of(const KernelLaunch& kernel) const {
  return (fs::path(kernels_dir_) / kernel.file).string();
}

std::vector<std::string> KernelCompiler::command(const KernelLaunch& kernel, const std::string& arch) const {
  std::vector<std::string> words = {toolchain_.nvcc, "-cubin", "-arch=" + arch,    "-std=c++17",
                                    "-Xptxas",       "-v",     "-I" + kernels_dir_};
  for (const auto& [name, value] : kernel.macros) words.push_back("-D" + name + "=" + value);
  words.push_back(source_of(kernel));
  return words;
}

CompiledKernel KernelCompiler::compile(const KernelLaunch& kernel, const std::string& arch,
                                       const std::atomic<bool>* cancel) {
  const Built entry = built(kernel, arch, cancel);
  const auto report = parse_ptxas(entry->log, kernel.entry);
  if (!report)
    throw CaseFailed(
        fmt::format("{} has no kernel called {} in the compiler's report", kernel.file, kernel.entry));
  return {.cubin = entry->cubin,
          .entry = kernel.entry,
          .registers = report->registers,
          .spill_store_bytes = report->spill_store_bytes,
          .spill_load_bytes = report->spill_load_bytes,
          .stack_bytes = report->stack_bytes,
          .static_smem_bytes = report->static_smem_bytes,
          .dynamic_smem_bytes = kernel.smem_bytes,
          .code_hash = code_hash(entry->cubin, kernel.entry),
          .log = entry->log};
}

KernelCompiler::Built KernelCompiler::built(const KernelLaunch& kernel, const std::string& arch,
                                            const std::atomic<bool>* cancel) {
  const std::string key = key_of(command(kernel, arch), toolchain_);
  std::promise<Built> promise;
  {
    std::unique_lock lock(mutex_);
    const auto known = built_.find(key);
    if (known != built_.end()) {
      const auto result = known->second;
      lock.unlock();
      return result.get();
    }
    built_[key] = promise.get_future().share();
  }
  try {
    const Built result = find_or_build(kernel, key, arch, cancel);
    promise.set_value(result);
    return result;
  } catch (...) {
    promise.set_exception(std::current_exception());
    if (cancel && *cancel) {
      const std::lock_guard lock(mutex_);
      built_.erase(key);
    }
    throw;
  }
}

KernelCompiler::Built KernelCompiler::find_or_build(const KernelLaunch& kernel, const std::string& key,
                                                    const std::string& arch,
                                                    const std::atomic<bool>* cancel) {
  const std::string source = source_of(kernel);
  if (!fs::exists(source)) throw CaseFailed(fmt::format("the kernel source {} does not exist", source));
  require_trusted(source, "the kernel source");
  if (auto found = cache_.find(key)) return std::make_shared<const CacheEntry>(std::move(*found));
  const auto started = fs::file_time_type::clock::now();
  const NvccRun run =
      run_nvcc({toolchain_.nvcc, kernels_dir_, source}, kernel, arch, cache_.scratch_folder(), cancel);
  CacheEntry entry{run.cubin, run.log};
  if (run.code != 0 || entry.cubin.empty())
    throw CaseFailed(fmt::format("{} does not compile for {}: {} (nvcc exit code {}; all of its output: {})",
                                 kernel.file, arch, first_error_line(entry.log), run.code,
                                 cache_.keep_failure(key, entry.log)));
  require_trusted_includes(source, run.read_files);
  if (!run.read_files.empty()) cache_.publish(key, run.read_files, entry, started);
  return std::make_shared<const CacheEntry>(std::move(entry));
}

CompiledKernel compile(const KernelLaunch& kernel, const std::string& arch, const CompileOptions& options) {
  return KernelCompiler(options).compile(kernel, arch);
}

}  // namespace attnprof
