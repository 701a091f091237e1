// One kernel of kernels/ to machine code, with nvcc at run time and a disk cache. Needs no GPU.
#pragma once

#include <atomic>
#include <filesystem>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "measure/backend.hpp"
#include "measure/compile/kernel_cache.hpp"
#include "measure/compile/toolchain.hpp"
#include "schedule/step.hpp"

namespace attnprof {

struct CompileOptions {
  std::string kernels_dir;  // empty: found beside the program
  std::string cache_dir;    // empty: XDG_CACHE_HOME/attnprof
  std::string nvcc;         // empty: found
};
CompileOptions compile_options(const MeasureOptions& options);

struct CompiledKernel {
  std::string cubin;
  std::string entry;
  int registers = 0;              // a thread
  int64_t spill_store_bytes = 0;  // a thread, as the compiler reports them
  int64_t spill_load_bytes = 0;
  int64_t stack_bytes = 0;         // a thread
  int64_t static_smem_bytes = 0;   // a block
  int64_t dynamic_smem_bytes = 0;  // a block, as the launch asks for
  std::string code_hash;           // of the entry's instructions
  std::string log;                 // all the compiler printed
};

class KernelCompiler {
 public:
  // Finds nvcc and the kernel sources. Throws EnvironmentError or UsageError with a sentence.
  explicit KernelCompiler(const CompileOptions& options);

  // Throws CaseFailed with the first error line and where the whole output is. From any thread; the same
  // kernel is compiled once, other callers wait for it. `cancel`, when set to true, ends the compilation.
  CompiledKernel compile(const KernelLaunch& kernel, const std::string& arch,
                         const std::atomic<bool>* cancel = nullptr);

  const Toolchain& toolchain() const { return toolchain_; }
  const std::string& kernels_dir() const { return kernels_dir_; }
  const std::filesystem::path& cache_root() const { return cache_.root(); }
  const std::string& notice() const { return cache_.notice(); }  // of the cache; empty: none
  // What is asked of nvcc for a kernel, by the user's own paths: what the cache knows it by. It is not what
  // is run (nvcc_command.hpp).
  std::vector<std::string> command(const KernelLaunch& kernel, const std::string& arch) const;

 private:
  using Built = std::shared_ptr<const CacheEntry>;
  Built built(const KernelLaunch& kernel, const std::string& arch, const std::atomic<bool>* cancel);
  Built find_or_build(const KernelLaunch& kernel, const std::string& key, const std::string& arch,
                      const std::atomic<bool>* cancel);
  std::string source_of(const KernelLaunch& kernel) const;

  Toolchain toolchain_;
  std::string kernels_dir_;
  KernelCache cache_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<Built>> built_;  // by command key
};

// The same for a single kernel.
CompiledKernel compile(const KernelLaunch& kernel, const std::string& arch, const CompileOptions& options);

}  // namespace attnprof
