// Counts around launches on one context.
#pragma once

#include <cuda.h>

#include <memory>
#include <optional>
#include <span>

#include "measure/gpu/launch_sets.hpp"
#include "measure/gpu/range_profiler.hpp"
#include "trace/launch_record.hpp"

namespace attnprof {

class LaunchCounter {
 public:
  // `context` must be current. Throws EnvironmentError: why counters cannot be read.
  explicit LaunchCounter(CUcontext context);

  const DeviceRecord& device() const { return device_; }
  std::span<const CountSet> sets() const { return sets_.sets; }

  // Starts a pass of set `set`; a launch and end follow. Throws EnvironmentError, CudaError.
  void begin(size_t set);
  // The values, or nothing where passes are left: the next begin must be of the same set and kernel, or
  // after abandon. Throws EnvironmentError, CaseFailed, CudaError.
  std::optional<LaunchCounts> end();
  void abandon();
  // The context is destroyed: nothing may be called any more, not even by the destructor.
  void lose_context() { profiler_->lose_context(); }
  // The set that the profiler is enabled for: another takes 0.1 s more.
  std::optional<size_t> enabled() const { return set_; }

 private:
  DeviceRecord device_;
  LaunchSets sets_;
  std::optional<size_t> set_;
  std::unique_ptr<RangeProfiler> profiler_;
};

}  // namespace attnprof
