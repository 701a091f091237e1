// CUPTI's profiler, opened at run time, so that one binary starts with and without it.
#pragma once

#include <cupti_callbacks.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_range_profiler.h>
#include <cupti_target.h>
#include <cupti_version.h>

#include <string>

// Declares and sizes a CUPTI parameter struct; everything else in it is zero.
#define ATTNPROF_CUPTI_PARAMS(type, name) \
  type name{};                            \
  name.structSize = type##_STRUCT_SIZE

// The functions in use, by their names.
#define ATTNPROF_CUPTI_FUNCTIONS(f)                \
  f(cuptiGetVersion);                              \
  f(cuptiGetResultString);                         \
  f(cuptiSubscribe);                               \
  f(cuptiEnableCallback);                          \
  f(cuptiProfilerInitialize);                      \
  f(cuptiProfilerDeviceSupported);                 \
  f(cuptiProfilerGetCounterAvailability);          \
  f(cuptiDeviceGetChipName);                       \
  f(cuptiProfilerHostInitialize);                  \
  f(cuptiProfilerHostDeinitialize);                \
  f(cuptiProfilerHostGetMetricProperties);         \
  f(cuptiProfilerHostConfigAddMetrics);            \
  f(cuptiProfilerHostGetConfigImageSize);          \
  f(cuptiProfilerHostGetConfigImage);              \
  f(cuptiProfilerHostGetNumOfPasses);              \
  f(cuptiProfilerHostEvaluateToGpuValues);         \
  f(cuptiRangeProfilerEnable);                     \
  f(cuptiRangeProfilerDisable);                    \
  f(cuptiRangeProfilerGetCounterDataSize);         \
  f(cuptiRangeProfilerCounterDataImageInitialize); \
  f(cuptiRangeProfilerSetConfig);                  \
  f(cuptiRangeProfilerStart);                      \
  f(cuptiRangeProfilerStop);                       \
  f(cuptiRangeProfilerPushRange);                  \
  f(cuptiRangeProfilerPopRange);                   \
  f(cuptiRangeProfilerDecodeData);                 \
  f(cuptiRangeProfilerGetCounterDataInfo)

namespace attnprof {

struct Cupti {
#define ATTNPROF_DECLARE(name) decltype(&::name) name = nullptr
  ATTNPROF_CUPTI_FUNCTIONS(ATTNPROF_DECLARE);
#undef ATTNPROF_DECLARE
  std::string path;      // of the library
  uint32_t version = 0;  // as cuptiGetVersion says: 130000
};

// Opens libcupti (the one that the environment variable ATTNPROF_CUPTI names, if set) once a process; later
// calls return the same table. Needs no driver. Throws EnvironmentError with where it looked, or the function
// an older library lacks.
const Cupti& cupti();

// Throws EnvironmentError with explain_counter_error's sentence unless `result` is success.
void check_cupti(CUptiResult result, const char* call);

}  // namespace attnprof
