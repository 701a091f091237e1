// The kernels of a plan: compiled in the background while earlier cases are measured, or all of them for
// `attnprof compile`.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "device/device_profile.hpp"
#include "measure/compile/compile.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// What a kernel's code depends on, as the macros say that it is compiled with.
struct KernelSettings {
  std::vector<std::string> fields;  // texts of kernel_fields(); empty: without its macro
  Count br, bc;
  std::string macros;  // all others, "STAGES=2 MIN_BLOCKS=1"; "-" without any
};

// One kernel of the plan on one architecture.
struct KernelReport {
  Identity identity;  // of the first case that runs it; its tile is `auto` where it is any case's
  Resolved resolved;
  KernelSettings settings;
  std::string variant, step, file, entry, arch;
  int threads = 0;          // a block; this and shared memory the most that a case asks for
  int registers = 0;        // a thread
  int64_t spill_bytes = 0;  // a thread, loads and stores
  int64_t stack_bytes = 0;  // a thread
  int64_t smem_bytes = 0;   // a block, static and dynamic
  std::string code_hash;
  std::string error;  // why it did not compile, as a sentence; empty: it did
};

// Compiles every kernel of every case (skipped cases apart) for every arch, each once however many cases run
// it, `jobs` at a time (0: one less than there are cores). Rows in the order of cases, then steps, then
// archs. `progress(done, total)` is called from the calling thread's jobs, never twice at once. A kernel that
// does not compile is a row with `error`.
std::vector<KernelReport> compile_plan(const std::vector<Case>& cases, const std::vector<std::string>& archs,
                                       KernelCompiler& compiler, int jobs = 0,
                                       const std::function<void(size_t, size_t)>& progress = {});

// "12 kernels compiled for sm_90a, 1 did not compile": of the reports of one architecture.
std::string compiled_sentence(const std::vector<KernelReport>& reports, const std::string& arch);

// The different kernels of a plan on one architecture, in its order.
std::vector<KernelLaunch> kernels_of(const std::vector<Case>& cases);

// Fills the compiler's cache in the order of cases, in threads of its own (one core stays free for
// measuring), until it is done or destroyed. What does not compile is reported by the case itself when its
// turn comes.
class CompileAhead {
 public:
  CompileAhead(const std::vector<Case>& cases, const DeviceProfile& device, KernelCompiler& compiler);
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

 private:
  std::atomic<bool> stop_ = false;
  std::atomic<size_t> next_ = 0;
  std::vector<KernelLaunch> kernels_;
  std::vector<std::thread> threads_;
};

}  // namespace attnprof
