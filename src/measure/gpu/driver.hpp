// The CUDA driver API, opened at run time, so that one binary starts with and without a driver.
#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

// The functions in use. cuda.h maps some names to versions (cuMemAlloc to cuMemAlloc_v2); members and symbols
// follow it.
#define ATTNPROF_DRIVER_FUNCTIONS(f)              \
  f(cuInit);                                      \
  f(cuDriverGetVersion);                          \
  f(cuGetErrorName);                              \
  f(cuGetErrorString);                            \
  f(cuDeviceGetCount);                            \
  f(cuDeviceGet);                                 \
  f(cuDeviceGetName);                             \
  f(cuDeviceGetAttribute);                        \
  f(cuDeviceGetPCIBusId);                         \
  f(cuDeviceTotalMem);                            \
  f(cuDevicePrimaryCtxRetain);                    \
  f(cuDevicePrimaryCtxRelease);                   \
  f(cuCtxSetCurrent);                             \
  f(cuCtxSynchronize);                            \
  f(cuCtxGetDevice);                              \
  f(cuGraphGetNodes);                             \
  f(cuGraphNodeGetType);                          \
  f(cuModuleLoadData);                            \
  f(cuModuleUnload);                              \
  f(cuModuleGetFunction);                         \
  f(cuFuncSetAttribute);                          \
  f(cuFuncGetAttribute);                          \
  f(cuOccupancyMaxActiveBlocksPerMultiprocessor); \
  f(cuLaunchKernel);                              \
  f(cuMemAlloc);                                  \
  f(cuMemFree);                                   \
  f(cuMemGetInfo);                                \
  f(cuMemcpyHtoDAsync);                           \
  f(cuMemcpyDtoHAsync);                           \
  f(cuMemsetD8Async);                             \
  f(cuStreamCreate);                              \
  f(cuStreamDestroy);                             \
  f(cuStreamSynchronize);                         \
  f(cuEventCreate);                               \
  f(cuEventDestroy);                              \
  f(cuEventRecord);                               \
  f(cuEventQuery);                                \
  f(cuEventSynchronize);                          \
  f(cuEventElapsedTime)

// Null where the driver lacks them: only some variants, and what is told of a traced kernel, need them.
#define ATTNPROF_OPTIONAL_DRIVER_FUNCTIONS(f)   \
  f(cuTensorMapEncodeTiled);    /* CUDA 12.0 */ \
  f(cuKernelGetFunction);       /* CUDA 12.0 */ \
  f(cuFuncGetName);             /* CUDA 12.3 */ \
  f(cuGraphKernelNodeGetParams) /* CUDA 12.0 */

// Calls a driver function; throws CudaError with the text of the call when it fails.
#define ATTNPROF_CU(function, ...) \
  ::attnprof::check_driver(::attnprof::driver().function(__VA_ARGS__), #function "(" #__VA_ARGS__ ")")

namespace attnprof {

struct Driver {
#define ATTNPROF_DECLARE(name) decltype(&::name) name = nullptr
  ATTNPROF_DRIVER_FUNCTIONS(ATTNPROF_DECLARE);
  ATTNPROF_OPTIONAL_DRIVER_FUNCTIONS(ATTNPROF_DECLARE);
#undef ATTNPROF_DECLARE
  std::string path;  // of the library
  int version = 0;   // the newest CUDA it supports, as cuDriverGetVersion says: 13000
};

// A failed driver call: what was called, the error's name and what it means.
class CudaError : public std::runtime_error {
 public:
  CudaError(CUresult result, const std::string& sentence) : std::runtime_error(sentence), result_(result) {}
  CUresult result() const { return result_; }

 private:
  CUresult result_;
};

// Opens and initialises the driver once a process; later calls return the same table. Throws EnvironmentError
// with a sentence: no driver, the toolkit's stub in its place, a driver too old, or no GPU.
const Driver& driver();

// The same for a library by its path or name; for tests.
Driver open_driver(const std::string& library);

// Throws CudaError unless `result` is success.
void check_driver(CUresult result, const char* call);

// "CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was encountered)".
std::string describe(CUresult result);

// GPUs of this machine that the process may use.
int device_count();

// Throws EnvironmentError, saying which there are, unless device `index` exists.
void require_device(int index);

}  // namespace attnprof
