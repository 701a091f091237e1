#include "measure/compile/compile.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/installation.hpp"
#include "base/run_program.hpp"
#include "measure/compile/code_hash.hpp"
#include "measure/compile/ptxas_report.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// The whole command, the compiler, and the environment that changes what nvcc does.
std::string key_of(const std::vector<std::string>& command, const Toolchain& toolchain) {
  std::string all = toolchain.version_text;
  for (const std::string& word : command) all += word + '\0';
  for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"}) {
    const char* value = std::getenv(name);
    all += fmt::format("{}={}", name, value ? value : "") + '\0';
  }
  return content_hash(all);
}

// Prerequisites of a make rule: "target : a.cu \<newline> b.h \ ...", spaces in names escaped by a backslash.
std::vector<std::string> parse_dependencies(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  const auto flush = [&] {
    if (!word.empty()) files.push_back(std::exchange(word, ""));
  };
  for (size_t i = rule.find(": ") + 1; i < rule.size(); ++i) {
    const bool escape = rule[i] == '\\' && i + 1 < rule.size();
    if (escape && rule[i + 1] == ' ')
      word += rule[++i];
    else if (std::isspace(static_cast<unsigned char>(rule[i])) || (escape && rule[i + 1] == '\n'))
      flush();
    else
      word += rule[i];
  }
  flush();
  return files;
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

std::vector<std::string> KernelCompiler::command(const KernelLaunch& kernel, const std::string& arch) const {
  std::vector<std::string> words = {toolchain_.nvcc, "-cubin", "-arch=" + arch,    "-std=c++17",
                                    "-Xptxas",       "-v",     "-I" + kernels_dir_};
  for (const auto& [name, value] : kernel.macros) words.push_back("-D" + name + "=" + value);
  words.push_back((fs::path(kernels_dir_) / kernel.file).string());
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
  const std::vector<std::string> words = command(kernel, arch);
  const std::string key = key_of(words, toolchain_);
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
    const Built result = find_or_build(words, key, kernel.file, arch, cancel);
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

KernelCompiler::Built KernelCompiler::find_or_build(const std::vector<std::string>& words,
                                                    const std::string& key, const std::string& file,
                                                    const std::string& arch,
                                                    const std::atomic<bool>* cancel) {
  if (!fs::exists(words.back()))
    throw CaseFailed(fmt::format("the kernel source {} does not exist", words.back()));
  if (auto found = cache_.find(key)) return std::make_shared<const CacheEntry>(std::move(*found));
  const auto started = fs::file_time_type::clock::now();
  ScratchDir made = cache_.make_scratch();
  std::vector<std::string> full = words;
  for (const std::string& word : {std::string("-MD"), std::string("-MF"), (made.path() / "depends").string(),
                                  std::string("-o"), (made.path() / "kernel.cubin").string()})
    full.push_back(word);
  const int code = run_program(full, made.path() / "log.txt", cancel);
  CacheEntry entry{read_file(made.path() / "kernel.cubin"), read_file(made.path() / "log.txt")};
  if (code != 0 || entry.cubin.empty())
    throw CaseFailed(fmt::format("{} does not compile for {}: {} (nvcc exit code {}; all of its output: {})",
                                 file, arch, first_error_line(entry.log), code,
                                 cache_.keep_failure(key, entry.log)));
  const std::vector<std::string> read_files = parse_dependencies(read_file(made.path() / "depends"));
  fs::remove(made.path() / "depends");
  if (!read_files.empty()) cache_.publish(key, read_files, made, started);
  return std::make_shared<const CacheEntry>(std::move(entry));
}

CompiledKernel compile(const KernelLaunch& kernel, const std::string& arch, const CompileOptions& options) {
  return KernelCompiler(options).compile(kernel, arch);
}

}  // namespace attnprof
