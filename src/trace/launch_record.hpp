// What the library inside a traced process writes: JSON lines in a file of its own a process, which `attnprof
// trace` reads when the process has ended.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "measure/gpu/gpu_profile.hpp"
#include "measure/gpu/launch_counts.hpp"

namespace attnprof {

// Environment variables that reach the library.
inline constexpr const char* trace_folder_variable = "ATTNPROF_TRACE_DIR";
inline constexpr const char* trace_kernel_variable = "ATTNPROF_TRACE_KERNEL";
inline constexpr const char* trace_range_variable = "ATTNPROF_TRACE_RANGE";
inline constexpr const char* trace_limit_variable = "ATTNPROF_TRACE_LIMIT";

// The launch configuration and what the driver knows of the function.
struct LaunchShape {
  std::array<int64_t, 3> grid{}, block{}, cluster{};  // no cluster: zeros
  int64_t dynamic_smem = 0, static_smem = 0;          // bytes a block
  int64_t registers = 0, local = 0;                   // a thread; local memory in bytes
  bool operator==(const LaunchShape&) const = default;
};

struct LaunchRecord {
  std::string kernel;         // demangled; of a graph the first of its kernels that was asked for
  std::string range;          // innermost NVTX range, where ranges are asked for
  int64_t graph_kernels = 0;  // kernels of a CUDA graph; 0: a kernel's launch
  int device = 0;
  LaunchShape shape;
  LaunchCounts counts;
};

struct DeviceRecord {
  int index = 0;
  GpuFacts facts;
  std::string bus_id;
  int cuda_driver = 0;  // 13000
  int cupti = 0;        // 130000
};

struct ProcessRecord {
  int64_t pid = 0;
  std::string program;
};

// Why this process cannot be traced, or no further.
struct TraceFailure {
  std::string sentence;
};

// Launches of a kernel so far, by its demangled name.
struct KernelSeen {
  std::string kernel;
  int64_t launches = 0;
};

using TraceLine = std::variant<ProcessRecord, DeviceRecord, LaunchRecord, KernelSeen, TraceFailure>;

std::string to_line(const TraceLine& record);  // with its line end
// Nothing for what is no line of ours: torn, or of another version.
std::optional<TraceLine> parse_line(std::string_view text);

}  // namespace attnprof
