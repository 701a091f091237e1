#include "trace/inject/launch_counter.hpp"

#include "measure/gpu/counter_access.hpp"
#include "measure/gpu/cupti.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/gpu_facts.hpp"

namespace attnprof {
namespace {

void synchronise() { ATTNPROF_CU(cuCtxSynchronize); }

}  // namespace

LaunchCounter::LaunchCounter(CUcontext context) {
  CUdevice device = 0;
  ATTNPROF_CU(cuCtxGetDevice, &device);
  const CounterAccess access = open_counters(context, device);
  device_ = {.index = device,
             .facts = gpu_facts_of(device),
             .bus_id = bus_id_of(device),
             .cuda_driver = driver().version,
             .cupti = static_cast<int>(cupti().version)};
  sets_ = plan_launch_sets(access.chip, access.availability);
  profiler_ = std::make_unique<RangeProfiler>(context, synchronise);
}

void LaunchCounter::begin(size_t set) {
  set_ = set;
  profiler_->begin(*sets_.plans[set]);
}

void LaunchCounter::abandon() {
  profiler_->abandon();
  set_.reset();
}

std::optional<LaunchCounts> LaunchCounter::end() {
  if (profiler_->end()) return std::nullopt;
  return named_counts(profiler_->values(), sets_.sets[*set_]);
}

}  // namespace attnprof
