// What the driver reports of a GPU.
#pragma once

#include <cuda.h>

#include <string>

#include "measure/gpu/gpu_profile.hpp"

namespace attnprof {

// All throw CudaError.
int device_attribute(CUdevice device, CUdevice_attribute wanted);
GpuFacts gpu_facts_of(CUdevice device);
std::string bus_id_of(CUdevice device);  // "0000:18:00.0"

}  // namespace attnprof
