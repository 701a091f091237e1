#include "measure/gpu/gpu_facts.hpp"

#include "measure/gpu/driver.hpp"

namespace attnprof {
namespace {

std::string name_of(CUdevice device) {
  char text[256] = "";
  ATTNPROF_CU(cuDeviceGetName, text, sizeof text, device);
  return text;
}

}  // namespace

int device_attribute(CUdevice device, CUdevice_attribute wanted) {
  int value = 0;
  ATTNPROF_CU(cuDeviceGetAttribute, &value, wanted, device);
  return value;
}

GpuFacts gpu_facts_of(CUdevice device) {
  const auto get = [device](CUdevice_attribute wanted) { return device_attribute(device, wanted); };
  size_t total = 0;
  ATTNPROF_CU(cuDeviceTotalMem, &total, device);
  return {.name = name_of(device),
          .major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          .minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
          .sms = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
          .smem_per_sm_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
          .smem_per_block_bytes = get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
          .registers_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR),
          .max_threads_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR),
          .max_ctas_per_sm = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
          .sm_clock_mhz = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3,
          .memory_clock_mhz = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1e3,
          .memory_bus_bits = get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH),
          .memory_bytes = static_cast<int64_t>(total),
          .l2_bytes = get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)};
}

std::string bus_id_of(CUdevice device) {
  char text[32] = "";
  ATTNPROF_CU(cuDeviceGetPCIBusId, text, sizeof text, device);
  return text;
}

}  // namespace attnprof
