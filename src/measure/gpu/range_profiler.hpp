// CUPTI's range profiler on one context: collects a plan's metrics in up to two ranges.
#pragma once

#include <cuda.h>

#include <functional>
#include <map>
#include <vector>

#include "measure/gpu/metric_plan.hpp"

namespace attnprof {

class RangeProfiler {
 public:
  // Enables profiling on `context`, which must be current; `synchronise` waits for everything enqueued on it.
  // Throws EnvironmentError.
  RangeProfiler(CUcontext context, std::function<void()> synchronise);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // At most this many ranges decode from one Start and Stop; further ones are lost without an error.
  static constexpr size_t max_ranges = 2;

  // Runs `before`, then each of `ranges` in a range of its own, as often as the plan has passes; the values
  // of each range, in order. Buffers are kept for the plan, which must outlive this object. Throws
  // CaseFailed.
  std::vector<CounterValues> collect(MetricPlan& plan, const std::function<void()>& before,
                                     const std::vector<std::function<void()>>& ranges);

 private:
  std::vector<uint8_t>& counter_data(MetricPlan& plan);
  void configure(MetricPlan& plan, std::vector<uint8_t>& data, size_t ranges);
  void run_range(size_t index, const std::function<void()>& work);
  bool run_pass(const std::function<void()>& before, const std::vector<std::function<void()>>& ranges);
  void decode(const std::vector<uint8_t>& data, size_t ranges);

  std::function<void()> synchronise_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;
  std::map<const MetricPlan*, std::vector<uint8_t>> counter_data_;
};

}  // namespace attnprof
