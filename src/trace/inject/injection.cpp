// libattnprof_trace.so: the driver loads it where CUDA_INJECTION64_PATH names it, and calls
// InitializeInjection.
#include <cupti_driver_cbid.h>

#include <cstdlib>
#include <exception>

#include "base/error.hpp"
#include "measure/gpu/cupti.hpp"
#include "trace/inject/tracer.hpp"

namespace attnprof {
namespace {

Tracer* tracer = nullptr;  // never destroyed: the driver calls back until the process has ended

constexpr CUpti_CallbackId launch_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
                                             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
                                             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
                                             CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
                                             CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
                                             CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
                                             CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
                                             CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz};
constexpr CUpti_CallbackId instantiate_calls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags, CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams,
    CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz};
constexpr CUpti_CallbackId capture_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph,
                                              CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz};
constexpr CUpti_CallbackId end_capture_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture,
                                                  CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz};
constexpr CUpti_CallbackId unload_calls[] = {CUPTI_DRIVER_TRACE_CBID_cuModuleUnload,
                                             CUPTI_DRIVER_TRACE_CBID_cuLibraryUnload};
constexpr CUpti_CallbackId destroy_graph_call = CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy;

// A call's arguments, in order, are what a callback is given. (CUPTI's generated_cuda_meta.h has a struct for
// each, and does not compile with a cuda.h that lacks the types of old versions.)
struct LaunchArguments {  // cuLaunchKernel, cuLaunchCooperativeKernel
  CUfunction function;
  unsigned grid[3], block[3], shared_bytes;
};
struct LaunchExArguments {
  const CUlaunchConfig* config;
  CUfunction function;
};
struct GraphLaunchArguments {  // cuGraphLaunch, cuGraphExecDestroy
  CUgraphExec graph_exec;
};
struct InstantiateArguments {  // every version of it
  CUgraphExec* graph_exec;
  CUgraph graph;
};

template <size_t size>
bool is_one_of(const CUpti_CallbackId (&calls)[size], CUpti_CallbackId id) {
  for (const CUpti_CallbackId call : calls)
    if (call == id) return true;
  return false;
}

bool launches_graph(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch || id == CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz;
}

bool has_config(CUpti_CallbackId id) {
  return id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
         id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
}

const void* handle_of(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* const arguments = data.functionParams;
  if (launches_graph(id)) return static_cast<const GraphLaunchArguments*>(arguments)->graph_exec;
  if (has_config(id)) return static_cast<const LaunchExArguments*>(arguments)->function;
  return static_cast<const LaunchArguments*>(arguments)->function;
}

void read_kernel(const void* arguments, Launch& launch) {
  const auto& call = *static_cast<const LaunchArguments*>(arguments);
  launch.shape.grid = {call.grid[0], call.grid[1], call.grid[2]};
  launch.shape.block = {call.block[0], call.block[1], call.block[2]};
  launch.shape.dynamic_smem = call.shared_bytes;
}

void read_kernel_ex(const void* arguments, Launch& launch) {
  const auto& call = *static_cast<const LaunchExArguments*>(arguments);
  if (!call.config) return;
  const CUlaunchConfig& config = *call.config;
  launch.shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  launch.shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  launch.shape.dynamic_smem = config.sharedMemBytes;
  for (unsigned i = 0; config.attrs && i < config.numAttrs; ++i)
    if (config.attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
      const auto& cluster = config.attrs[i].value.clusterDim;
      launch.shape.cluster = {cluster.x, cluster.y, cluster.z};
    }
}

Launch launch_of(CUpti_CallbackId id, const CUpti_CallbackData& data, const void* handle) {
  Launch launch;
  launch.context = data.context;
  launch.handle = handle;
  if (has_config(id))
    read_kernel_ex(data.functionParams, launch);
  else if (!launches_graph(id))
    read_kernel(data.functionParams, launch);
  return launch;
}

// What nobody asked for goes no further than its handle.
void before_launch(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* const handle = handle_of(id, data);
  const char* const symbol = launches_graph(id) ? "(a graph without kernels)" : data.symbolName;
  if (TracedFunction* const function = tracer->wanted(handle, symbol))
    tracer->before(launch_of(id, data, handle), *function);
}

bool succeeded(const CUpti_CallbackData& data) {
  return data.functionReturnValue && *static_cast<const CUresult*>(data.functionReturnValue) == CUDA_SUCCESS;
}

void after_other_call(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (is_one_of(end_capture_calls, id)) return tracer->capture_ended();
  if (!succeeded(data)) return;
  if (is_one_of(capture_calls, id)) tracer->capture_began();
  if (is_one_of(instantiate_calls, id)) {
    const auto& call = *static_cast<const InstantiateArguments*>(data.functionParams);
    if (call.graph_exec) tracer->graph_instantiated(*call.graph_exec, call.graph);
  }
}

// Before the driver gives a handle out anew, on another thread perhaps, what it stood for is forgotten; and
// after the call again, for who launched in between.
void around_release(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (is_one_of(unload_calls, id)) tracer->module_unloaded();
  if (id == destroy_graph_call)
    tracer->graph_destroyed(static_cast<const GraphLaunchArguments*>(data.functionParams)->graph_exec);
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* callback) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING)
    tracer->context_destroyed(static_cast<const CUpti_ResourceData*>(callback)->context);
  if (domain != CUPTI_CB_DOMAIN_DRIVER_API) return;
  const auto& data = *static_cast<const CUpti_CallbackData*>(callback);
  const bool enters = data.callbackSite == CUPTI_API_ENTER;
  if (!is_one_of(launch_calls, id)) {
    around_release(id, data);
    if (!enters) after_other_call(id, data);
  } else if (enters) {
    before_launch(id, data);
  } else if (Tracer::counting()) {
    tracer->after(succeeded(data));
  }
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void subscribe() {
  CUpti_SubscriberHandle subscriber = nullptr;
  check_cupti(cupti().cuptiSubscribe(&subscriber, on_call, nullptr), "cuptiSubscribe");
  const auto enable_one = [&](CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    check_cupti(cupti().cuptiEnableCallback(1, subscriber, domain, id), "cuptiEnableCallback");
  };
  const auto enable = [&](const auto& calls) {
    for (const CUpti_CallbackId id : calls) enable_one(CUPTI_CB_DOMAIN_DRIVER_API, id);
  };
  enable(launch_calls);
  enable(instantiate_calls);
  enable(capture_calls);
  enable(end_capture_calls);
  enable(unload_calls);
  enable_one(CUPTI_CB_DOMAIN_DRIVER_API, destroy_graph_call);
  enable_one(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING);
}

void start_tracing() {
  const std::string folder = variable(trace_folder_variable);
  if (tracer || folder.empty()) return;
  tracer = new Tracer({.folder = folder,
                       .kernel = variable(trace_kernel_variable),
                       .range = variable(trace_range_variable),
                       .limit = std::atoi(variable(trace_limit_variable).c_str())});
  try {
    subscribe();
    std::atexit([] { tracer->finish(); });
  } catch (const std::exception& error) {
    tracer->fail(error.what());
  }
}

}  // namespace
}  // namespace attnprof

// Called in the program's first call of the driver: nothing here may call it. Its value says that the library
// stays.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  try {
    attnprof::start_tracing();
  } catch (...) {  // a regular expression that is none: attnprof refused it before
  }
  return 1;
}
