#include "measure/gpu/counters.hpp"

#include <fmt/format.h>

#include <chrono>
#include <map>

#include "error.hpp"
#include "measure/gpu/counted_row.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/range_profiler.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int max_counts = 3;
constexpr double repeat_budget_s = 0.15;  // no further count once this much was spent on a case

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
  std::optional<double> clean_eviction_write;
  // Last, so that it is disabled before the plans it holds buffers for go.
  std::unique_ptr<RangeProfiler> profiler;

  MetricPlan& plan(Dtype dtype) {
    std::unique_ptr<MetricPlan>& made = plans[dtype];
    if (!made) made = std::make_unique<MetricPlan>(chip, case_metrics(dtype), availability);
    return *made;
  }

  OperationCount count(const CountedWork& work, Dtype dtype) {
    const std::vector<CounterValues> values =
        profiler->collect(plan(dtype), work.condition, {work.run, work.evict});
    return {values[0], values[1]};
  }

  // What the eviction read writes after an operation that does nothing, the profiler's own writes: once a
  // session, median of three.
  double eviction_baseline(const CountedWork& work, Dtype dtype) {
    if (clean_eviction_write) return *clean_eviction_write;
    std::vector<double> writes;
    for (int i = 0; i < 3; ++i)
      writes.push_back(
          count({work.evict, [] {}, work.evict}, dtype).eviction[Quantity::hbm_write].value_or(0));
    clean_eviction_write = median(writes);
    return *clean_eviction_write;
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
    const double baseline = state_->eviction_baseline(work, dtype);
    const Clock::time_point start = Clock::now();
    std::vector<OperationCount> counts = {state_->count(work, dtype)};
    const double seconds = seconds_since(start);
    while (counts.size() < max_counts && seconds_since(start) + seconds < repeat_budget_s)
      counts.push_back(state_->count(work, dtype));
    return counted_row(counts, {baseline, work.dirty_before}, status);
  } catch (const EnvironmentError& error) {  // it worked when the session was opened
    throw CaseFailed(error.what());
  }
}

const std::string& CounterSession::chip() const { return state_->chip; }
const std::string& CounterSession::library() const { return cupti().path; }
uint32_t CounterSession::version() const { return cupti().version; }

}  // namespace attnprof
