// CUPTI's range profiler on one context: collects a plan's metrics in up to two ranges.
#pragma once

#include <cuda.h>

#include <functional>
#include <vector>

#include "measure/gpu/metric_plan.hpp"

namespace attnprof {

class RangeProfiler {
 public:
  // Profiles `context`, which must be current; `synchronise` waits for everything enqueued on it.
  RangeProfiler(CUcontext context, std::function<void()> synchronise);
  ~RangeProfiler();
  RangeProfiler(const RangeProfiler&) = delete;
  RangeProfiler& operator=(const RangeProfiler&) = delete;

  // At most this many ranges decode from one Start and Stop; further ones are lost without an error.
  static constexpr size_t max_ranges = 2;

  // Runs `before`, then each of `ranges` in a range of its own, as often as the plan has passes; the values
  // of each range, in order. `plan` must outlive its use. An enabled profiler takes one configuration only: a
  // second one decodes to values that were not collected. So another plan than the last one's disables and
  // enables again, about 0.1 s more on an H200. Throws EnvironmentError, CaseFailed.
  std::vector<CounterValues> collect(MetricPlan& plan, const std::function<void()>& before,
                                     const std::vector<std::function<void()>>& ranges);

  // The same around work that is not ours to call: begin, the work, end, as often as end says that a pass is
  // left. `begin` is of a first pass unless the last end said so. Everything is synchronised with. After an
  // exception the profiler is of no further use.
  void begin(MetricPlan& plan);
  bool end();                                   // true: a pass is left
  CounterValues values();                       // after the last pass
  void abandon();                               // passes that are left are not wanted any more
  void lose_context() { profiler_ = nullptr; }  // it is destroyed, and what CUPTI had there with it

 private:
  void enable(MetricPlan& plan);
  void disable();
  void configure(MetricPlan& plan, size_t ranges);
  void run_range(size_t index, const std::function<void()>& work);
  void start();
  bool stop();
  void push(size_t index);
  void pop();
  bool run_pass(const std::function<void()>& before, const std::vector<std::function<void()>>& ranges);
  void decode(size_t ranges);

  CUcontext context_;
  std::function<void()> synchronise_;
  CUpti_RangeProfiler_Object* profiler_ = nullptr;  // null while disabled
  MetricPlan* plan_ = nullptr;                      // the one it was enabled for
  bool pass_left_ = false;                          // of begin and end
  std::vector<uint8_t> counter_data_;
};

}  // namespace attnprof
