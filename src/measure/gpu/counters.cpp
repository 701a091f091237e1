#include "measure/gpu/counters.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "base/error.hpp"
#include "measure/gpu/counted_row.hpp"
#include "measure/gpu/counter_access.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/range_profiler.hpp"
#include "measure/gpu/recount.hpp"
#include "measure/gpu/stopwatch.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

void synchronise() { ATTNPROF_CU(cuCtxSynchronize); }

}  // namespace

struct CounterSession::State {
  std::string chip;
  std::vector<uint8_t> availability;
  std::map<Dtype, std::unique_ptr<MetricPlan>> plans;
  std::unique_ptr<MetricPlan> hbm_plan;
  std::map<const MetricPlan*, double> clean_eviction_writes;
  CountLog log;
  // Last, so that it is disabled before the plans it holds buffers for go.
  std::unique_ptr<RangeProfiler> profiler;

  MetricPlan& plan(Dtype dtype) {
    std::unique_ptr<MetricPlan>& made = plans[dtype];
    if (!made) made = std::make_unique<MetricPlan>(chip, case_metrics(dtype), availability);
    return *made;
  }

  MetricPlan& plan_of_hbm() {
    if (!hbm_plan) hbm_plan = std::make_unique<MetricPlan>(chip, hbm_metrics(), availability);
    return *hbm_plan;
  }

  OperationCount count(const CountedWork& work, MetricPlan& metrics) {
    const Settling settling{eviction_baseline(work, metrics), work.dirty_before};
    const std::vector<CounterValues> values =
        profiler->collect(metrics, work.condition, {work.run, work.evict});
    return {values[0], values[1], settling};
  }

  // What the eviction read writes after an operation that does nothing, the profiler's own writes: once a
  // session and configuration, median of three.
  double eviction_baseline(const CountedWork& work, MetricPlan& metrics) {
    const auto known = clean_eviction_writes.find(&metrics);
    if (known != clean_eviction_writes.end()) return known->second;
    std::vector<double> writes;
    for (int i = 0; i < 3; ++i) {
      const std::vector<CounterValues> values = profiler->collect(metrics, work.evict, {[] {}, work.evict});
      writes.push_back(values[1][Quantity::hbm_write].value_or(0));
    }
    return clean_eviction_writes[&metrics] = median(writes);
  }

  void count_hbm_again(const CountedWork& work, std::vector<OperationCount>& counts) {
    const WallClock::time_point start = WallClock::now();
    const RecountLimits limits = log.limits();
    recount(counts,
            {.relocate = work.relocate,
             .count = [&] { return count(work, plan_of_hbm()); },
             .seconds = [&] { return seconds_since(start); }},
            limits);
    log.add(counts, limits);
  }
};

CounterSession::CounterSession(std::unique_ptr<State> state) : state_(std::move(state)) {}
CounterSession::~CounterSession() = default;

std::unique_ptr<CounterSession> CounterSession::open(CUcontext context, int device) {
  auto state = std::make_unique<State>();
  CounterAccess access = open_counters(context, device);
  state->chip = std::move(access.chip);
  state->availability = std::move(access.availability);
  state->profiler = std::make_unique<RangeProfiler>(context, synchronise);
  return std::unique_ptr<CounterSession>(new CounterSession(std::move(state)));
}

Counters CounterSession::measure(const CountedWork& work, Dtype dtype, Status& status) {
  try {
    std::vector<OperationCount> counts = {state_->count(work, state_->plan(dtype))};
    if (work.relocate) state_->count_hbm_again(work, counts);
    return counted_row(counts, status);
  } catch (const EnvironmentError& error) {  // it worked when the session was opened
    throw CaseFailed(error.what());
  }
}

const std::string& CounterSession::chip() const { return state_->chip; }
const std::string& CounterSession::library() const { return cupti().path; }
uint32_t CounterSession::version() const { return cupti().version; }

}  // namespace attnprof
