#include "measure/gpu/counter_access.hpp"

#include <utility>

#include "measure/gpu/cupti.hpp"

namespace attnprof {
namespace {

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

CounterAccess open_counters(CUcontext context, int device) {
  ATTNPROF_CUPTI_PARAMS(CUpti_Profiler_Initialize_Params, params);
  check_cupti(cupti().cuptiProfilerInitialize(&params), "cuptiProfilerInitialize");
  CounterAccess access;
  access.chip = chip_name(device);
  require_support(device);
  access.availability = counter_availability(context);
  return access;
}

}  // namespace attnprof
