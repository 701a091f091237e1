#include "measure/gpu/metric_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "base/error.hpp"

namespace attnprof {

MetricPlan::MetricPlan(const std::string& chip, std::span<const CounterMetric> metrics,
                       const std::vector<uint8_t>& availability) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Initialize_Params, params);
  params.profilerType = CUPTI_PROFILER_TYPE_RANGE_PROFILER;
  params.pChipName = chip.c_str();
  params.pCounterAvailabilityImage = availability.empty() ? nullptr : availability.data();
  check_cupti(cupti().cuptiProfilerHostInitialize(&params), "cuptiProfilerHostInitialize");
  host_ = params.pHostObject;
  for (const CounterMetric& metric : metrics) add(metric);
  configure(chip);
}

MetricPlan::~MetricPlan() {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, params);
  params.pHostObject = host_;
  cupti().cuptiProfilerHostDeinitialize(&params);
}

bool MetricPlan::knows(const char* name) const {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params, params);
  params.pHostObject = host_;
  params.pMetricName = name;
  return cupti().cuptiProfilerHostGetMetricProperties(&params) == CUPTI_SUCCESS;
}

// An unknown name in ConfigAddMetrics is a bare "invalid parameter" that does not say which, so each is asked
// for.
void MetricPlan::add(const CounterMetric& metric) {
  for (const char* name : metric.names)
    if (name && knows(name)) {
      metrics_.push_back(metric);
      names_.push_back(name);
      return;
    }
  missing_.emplace_back(metric.names.front());
}

void MetricPlan::configure(const std::string& chip) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_;
  add.ppMetricNames = names();
  add.numMetrics = size();
  if (cupti().cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS)
    throw EnvironmentError(
        fmt::format("CUPTI cannot collect these counters together on {}: {}", chip, fmt::join(names_, ", ")));

  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, length);
  length.pHostObject = host_;
  check_cupti(cupti().cuptiProfilerHostGetConfigImageSize(&length), "cuptiProfilerHostGetConfigImageSize");
  config_.resize(length.configImageSize);

  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_;
  image.configImageSize = config_.size();
  image.pConfigImage = config_.data();
  check_cupti(cupti().cuptiProfilerHostGetConfigImage(&image), "cuptiProfilerHostGetConfigImage");

  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, passes);
  passes.configImageSize = config_.size();
  passes.pConfigImage = config_.data();
  check_cupti(cupti().cuptiProfilerHostGetNumOfPasses(&passes), "cuptiProfilerHostGetNumOfPasses");
  passes_ = passes.numOfPasses;
}

CounterValues MetricPlan::evaluate(const std::vector<uint8_t>& counter_data, size_t index) {
  std::vector<double> raw(size(), std::nan(""));
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, params);
  params.pHostObject = host_;
  params.pCounterDataImage = counter_data.data();
  params.counterDataImageSize = counter_data.size();
  params.rangeIndex = index;
  params.ppMetricNames = names();
  params.numMetrics = size();
  params.pMetricValues = raw.data();
  check_cupti(cupti().cuptiProfilerHostEvaluateToGpuValues(&params), "cuptiProfilerHostEvaluateToGpuValues");
  CounterValues values;
  for (size_t i = 0; i < size(); ++i) {
    if (!std::isfinite(raw[i]))
      throw CaseFailed(
          fmt::format("the counter {} was not collected: count again, alone on the GPU", names_[i]));
    values[metrics_[i].quantity] = raw[i] * metrics_[i].unit;
  }
  return values;
}

}  // namespace attnprof
