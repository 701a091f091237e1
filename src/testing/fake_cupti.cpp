// A CUPTI that counts the fake driver's launches. As the real one it takes one configuration from enabling to
// disabling, and every call in its order only. A pass holds few counters, and fp16 tensor FLOPs take two
// passes. FAKE_CUPTI_SUBSCRIBE and FAKE_CUPTI_AVAILABILITY name errors that it answers with.
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <set>
#include <utility>

#include "testing/fake_cuda.hpp"

struct CUpti_Profiler_Host_Object {
  std::vector<std::string> metrics;
};
struct CUpti_RangeProfiler_Object {
  bool configured = false, started = false, pushed = false;
  const uint8_t* config = nullptr;  // the only one until it is disabled
  size_t pass = 0, passes = 0;
  CUcontext context = nullptr;
  int times_destroyed = 0;  // that the context's address was, when the profiler was enabled
};

namespace attnprof::fake {
namespace {

constexpr size_t metrics_a_pass = 10;

struct Subscriber {
  CUpti_CallbackFunc function = nullptr;
  void* data = nullptr;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> enabled;

  bool wants(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
    return function && enabled.contains({domain, id});
  }
} subscriber;

// A profiler on a context that is no more is of no use to anybody, as a real one may be a crash.
void check_context(const CUpti_RangeProfiler_Object& profiler) {
  if (profiler.times_destroyed == times_destroyed(profiler.context)) return;
  std::fprintf(stderr, "fake CUPTI: a call for a context that was destroyed\n");
  std::abort();
}

size_t passes_of(const CUpti_Profiler_Host_Object& host) {
  size_t passes = (host.metrics.size() + metrics_a_pass - 1) / metrics_a_pass;
  for (const std::string& metric : host.metrics)
    if (metric.find("src_fp16") != std::string::npos) ++passes;
  return passes;
}

// Of one launch; what depends on work goes with its blocks.
double value_of(const std::string& metric) {
  const Work& now = work();
  const auto has = [&](const char* part) { return metric.find(part) != std::string::npos; };
  const double blocks = now.blocks * now.launches_in_range;
  if (has("ops_path_tensor"))
    for (const char* dtype : {"bf16", "fp16", "fp8", "tf32"})
      if (has((std::string("src_") + dtype).c_str()))
        return now.kernel.find(dtype) != std::string::npos ? 4e6 * blocks : 0;
  if (has("tensor_cycles"))
    return now.kernel.find("bf16") == std::string::npos && now.kernel.find("fp16") == std::string::npos ? 0
                                                                                                        : 50;
  if (has("time_duration")) return 30000 + 1000 * now.blocks;
  if (has("cycles_elapsed")) return 2 * (30000 + 1000 * now.blocks);
  if (has("cycles_active")) return 2000 * now.blocks;
  if (has("dram__bytes_read")) return 10000 * blocks;
  if (has("dram__bytes_write")) return 5000 * blocks;
  if (has("local_op_st")) return 64 * blocks;
  return 100 * blocks;
}

}  // namespace

void call_back(const Call& call, CUpti_ApiCallbackSite site, CUresult* result) {
  if (!subscriber.wants(CUPTI_CB_DOMAIN_DRIVER_API, call.id)) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = call.arguments;
  data.functionReturnValue = result;
  data.symbolName = call.symbol;
  data.context = current_context();
  subscriber.function(subscriber.data, CUPTI_CB_DOMAIN_DRIVER_API, call.id, &data);
}

void call_back_destroy(CUcontext context) {
  constexpr CUpti_CallbackId id = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING;
  if (!subscriber.wants(CUPTI_CB_DOMAIN_RESOURCE, id)) return;
  CUpti_ResourceData data{};
  data.context = context;
  subscriber.function(subscriber.data, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

}  // namespace attnprof::fake

using namespace attnprof::fake;

namespace {

constexpr CUptiResult out_of_order = CUPTI_ERROR_INVALID_OPERATION;

// CUPTI's own, so that one whose context is destroyed before it is disabled is nobody's leak. Never destroyed
// itself: threads call until the process has ended.
struct Profilers {
  std::mutex mutex;
  std::list<CUpti_RangeProfiler_Object> all;
};
Profilers& profilers() {
  static auto* const the_one = new Profilers;
  return *the_one;
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = 130000;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle*, CUpti_CallbackFunc function, void* data) {
  if (const int error = number("FAKE_CUPTI_SUBSCRIBE")) return static_cast<CUptiResult>(error);
  subscriber.function = function;
  subscriber.data = data;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId id) {
  if (enable) subscriber.enabled.insert({domain, id});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  params->pChipName = "GH100";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* params) {
  params->isSupported = CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerGetCounterAvailability(CUpti_Profiler_GetCounterAvailability_Params* params) {
  params->counterAvailabilityImageSize = 1;
  return static_cast<CUptiResult>(number("FAKE_CUPTI_AVAILABILITY"));
}

CUptiResult cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  params->pHostObject->metrics.assign(params->ppMetricNames, params->ppMetricNames + params->numMetrics);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  *params->pConfigImage = static_cast<uint8_t>(passes_of(*params->pHostObject));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  params->numOfPasses = *params->pConfigImage;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i)
    params->pMetricValues[i] = value_of(params->ppMetricNames[i]);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiRangeProfilerEnable(CUpti_RangeProfiler_Enable_Params* params) {
  const std::lock_guard lock(profilers().mutex);
  params->pRangeProfilerObject = &profilers().all.emplace_back(
      CUpti_RangeProfiler_Object{.context = params->ctx, .times_destroyed = times_destroyed(params->ctx)});
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDisable(CUpti_RangeProfiler_Disable_Params* params) {
  check_context(*params->pRangeProfilerObject);
  const std::lock_guard lock(profilers().mutex);
  profilers().all.remove_if([&](const auto& one) { return &one == params->pRangeProfilerObject; });
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataSize(CUpti_RangeProfiler_GetCounterDataSize_Params* params) {
  params->counterDataSize = 1;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerSetConfig(CUpti_RangeProfiler_SetConfig_Params* params) {
  CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  check_context(profiler);
  if (profiler.started || (profiler.config && profiler.config != params->pConfig)) return out_of_order;
  profiler = {.configured = true,
              .config = params->pConfig,
              .passes = *params->pConfig,
              .context = profiler.context,
              .times_destroyed = profiler.times_destroyed};
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStart(CUpti_RangeProfiler_Start_Params* params) {
  CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  check_context(profiler);
  if (!profiler.configured || profiler.started || profiler.pass >= profiler.passes) return out_of_order;
  profiler.started = true;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPushRange(CUpti_RangeProfiler_PushRange_Params* params) {
  if (!params->pRangeProfilerObject->started || params->pRangeProfilerObject->pushed) return out_of_order;
  params->pRangeProfilerObject->pushed = true;
  work().launches_in_range = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerPopRange(CUpti_RangeProfiler_PopRange_Params* params) {
  if (!params->pRangeProfilerObject->pushed) return out_of_order;
  params->pRangeProfilerObject->pushed = false;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerStop(CUpti_RangeProfiler_Stop_Params* params) {
  CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  if (!profiler.started || profiler.pushed) return out_of_order;
  profiler.started = false;
  params->isAllPassSubmitted = ++profiler.pass >= profiler.passes;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerDecodeData(CUpti_RangeProfiler_DecodeData_Params* params) {
  const CUpti_RangeProfiler_Object& profiler = *params->pRangeProfilerObject;
  return profiler.pass < profiler.passes ? out_of_order : CUPTI_SUCCESS;
}
CUptiResult cuptiRangeProfilerGetCounterDataInfo(CUpti_RangeProfiler_GetCounterDataInfo_Params* params) {
  params->numTotalRanges = 1;
  return CUPTI_SUCCESS;
}

}  // extern "C"
