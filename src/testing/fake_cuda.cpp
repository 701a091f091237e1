// A driver without a GPU, for tests of tracing: an H200 that runs nothing. A CUfunction is its kernel's name,
// a CUgraph an array of such names that ends with null, and a CUgraphExec its CUgraph. A CUcontext is any
// address; one that was destroyed is a new one's.
#include "testing/fake_cuda.hpp"

#include <cuda.h>
#include <cupti_driver_cbid.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

namespace attnprof::fake {

Work& work() {
  static Work current;
  return current;
}

namespace {

thread_local CUcontext current = nullptr;
std::mutex contexts_mutex;
std::map<CUcontext, int> destroyed;

}  // namespace

CUcontext current_context() {
  static int first;  // what every thread starts with
  return current ? current : reinterpret_cast<CUcontext>(&first);
}

int times_destroyed(CUcontext context) {
  const std::lock_guard lock(contexts_mutex);
  return destroyed[context];
}

int number(const char* variable) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : 0;
}

namespace {

const char* name_of(const void* function) { return static_cast<const char*>(function); }

// What the real one does in its first call.
void load_injection() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (!path || !*path) return;
  void* library = dlopen(path, RTLD_NOW);
  if (!library) {
    std::fprintf(stderr, "fake driver: %s\n", dlerror());
    return;
  }
  if (auto* entry = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) entry();
}

CUresult launch(const void* function, unsigned blocks) {
  work().kernel = name_of(function);
  work().blocks = blocks;
  ++work().launches_in_range;
  return work().kernel == "refused" ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

void copy_text(char* to, int size, const char* text) {
  std::snprintf(to, static_cast<size_t>(size), "%s", text);
}

}  // namespace
}  // namespace attnprof::fake

using namespace attnprof::fake;

extern "C" {

CUresult cuInit(unsigned) {
  static const bool once = (load_injection(), true);
  return once ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN;
}
CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  *count = 1;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int size, CUdevice) {
  copy_text(name, size, "NVIDIA H200");
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* id, int size, CUdevice) {
  copy_text(id, size, "0000:18:00.0");
  return CUDA_SUCCESS;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice) {
  *bytes = size_t{141} << 30;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice) {
  static const std::map<int, int> known = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                                           {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                                           {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
                                           {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                                           {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                                           {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                                           {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
                                           {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                                           {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560}};
  const auto found = known.find(attribute);
  *value = found == known.end() ? 0 : found->second;
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  current = context;
  return CUDA_SUCCESS;
}
CUresult cuCtxDestroy(CUcontext context) {
  if (!context) context = current_context();
  call_back_destroy(context);
  const std::lock_guard lock(contexts_mutex);
  ++destroyed[context];
  return CUDA_SUCCESS;
}
CUresult cuCtxGetDevice(CUdevice* device) {
  *device = 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS            ? 168
           : attribute == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES  ? 16
           : attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES ? 1024
                                                              : 0;
  return CUDA_SUCCESS;
}
CUresult cuFuncGetName(const char** name, CUfunction function) {
  *name = name_of(function);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                        unsigned bz, unsigned smem, CUstream stream, void** parameters, void** extra) {
  const struct {
    CUfunction f;
    unsigned gx, gy, gz, bx, by, bz, smem;
    CUstream stream;
    void **parameters, **extra;
  } arguments{f, gx, gy, gz, bx, by, bz, smem, stream, parameters, extra};
  return called({CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, &arguments, name_of(f)},
                [&] { return launch(f, gx * gy * gz); });
}
CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra) {
  const struct {
    const CUlaunchConfig* config;
    CUfunction f;
    void **parameters, **extra;
  } arguments{config, f, parameters, extra};
  return called({CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, &arguments, nullptr},
                [&] { return launch(f, config->gridDimX * config->gridDimY * config->gridDimZ); });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* graph_exec, CUgraph graph, unsigned long long flags) {
  const struct {
    CUgraphExec* graph_exec;
    CUgraph graph;
    unsigned long long flags;
  } arguments{graph_exec, graph, flags};
  return called({CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, &arguments}, [&] {
    *graph_exec = reinterpret_cast<CUgraphExec>(graph);
    return CUDA_SUCCESS;
  });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  auto* const names = reinterpret_cast<CUgraphNode*>(graph);
  for (*count = 0; names[*count]; ++*count)
    if (nodes) nodes[*count] = names[*count];
  return CUDA_SUCCESS;
}
CUresult cuGraphNodeGetType(CUgraphNode, CUgraphNodeType* type) {
  *type = CU_GRAPH_NODE_TYPE_KERNEL;
  return CUDA_SUCCESS;
}
CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  parameters->func = reinterpret_cast<CUfunction>(node);
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec graph_exec, CUstream stream) {
  const struct {
    CUgraphExec graph_exec;
    CUstream stream;
  } arguments{graph_exec, stream};
  return called({CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, &arguments},
                [&] { return launch(*reinterpret_cast<void**>(graph_exec), 1); });
}

CUresult cuStreamBeginCapture(CUstream, CUstreamCaptureMode) {
  return called({CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2, nullptr}, [] { return CUDA_SUCCESS; });
}
CUresult cuStreamEndCapture(CUstream, CUgraph*) {
  return called({CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture, nullptr}, [] { return CUDA_SUCCESS; });
}

}  // extern "C"
