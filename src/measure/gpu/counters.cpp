#include "measure/gpu/counters.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "error.hpp"
#include "measure/gpu/counted_row.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/range_profiler.hpp"
#include "measure/gpu/recount.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void synchronise() { ATTNPROF_CU(cuCtxSynchronize); }

std::string chip_name(int device) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Device_GetChipName_Params, params);
  params.deviceIndex = static_cast<size_t>(device);
  check_cupti(cupti().cuptiDeviceGetChipName(&params), "cuptiDeviceGetChipName");
  return params.pChipName;
}

// CUPTI says here, without an error, why a device or its configuration has no counters.
void require_support(int device) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_DeviceSupported_Params, params);
  params.cuDevice = device;
  params.api = CUPTI_PROFILER_RANGE_PROFILING;
  check_cupti(cupti().cuptiProfilerDeviceSupported(&params), "cuptiProfilerDeviceSupported");
  if (params.isSupported == CUPTI_PROFILER_CONFIGURATION_SUPPORTED) return;
  const std::pair<CUpti_Profiler_Support_Level, CUptiResult> causes[] = {
      {params.vGpu, CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES},
      {params.confidentialCompute, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED},
      {params.wsl, CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED},
      {params.cmp, CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED},
      {params.sli, CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED},
  };
  for (const auto& [level, result] : causes)
    if (level == CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED || level == CUPTI_PROFILER_CONFIGURATION_DISABLED)
      check_cupti(result, "cuptiProfilerDeviceSupported");
  check_cupti(CUPTI_ERROR_NOT_SUPPORTED, "cuptiProfilerDeviceSupported");
}

// Missing permission shows here first.
std::vector<uint8_t> counter_availability(CUcontext context) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_GetCounterAvailability_Params, params);
  params.ctx = context;
  const char* call = "cuptiProfilerGetCounterAvailability";
  check_cupti(cupti().cuptiProfilerGetCounterAvailability(&params), call);
  std::vector<uint8_t> image(params.counterAvailabilityImageSize);
  params.pCounterAvailabilityImage = image.data();
  check_cupti(cupti().cuptiProfilerGetCounterAvailability(&params), call);
  return image;
}

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
    const Clock::time_point start = Clock::now();
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
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  check_cupti(cupti().cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
  auto state = std::make_unique<State>();
  state->chip = chip_name(device);
  require_support(device);
  state->availability = counter_availability(context);
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
