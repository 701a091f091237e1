// The profile of a real GPU: what its driver reports, completed by what is known of the board.
#pragma once

#include <cstdint>
#include <string>

#include "device/device_profile.hpp"

namespace attnprof {

// What the driver reports of a GPU; 0 where it does not.
struct GpuFacts {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int sms = 0;
  int64_t smem_per_sm_bytes = 0;
  int64_t smem_per_block_bytes = 0;  // opt-in maximum
  int registers_per_sm = 0;
  int max_threads_per_sm = 0;
  int max_ctas_per_sm = 0;
  double sm_clock_mhz = 0;
  double memory_clock_mhz = 0;
  int memory_bus_bits = 0;
  int64_t memory_bytes = 0;
  int64_t l2_bytes = 0;
  bool operator==(const GpuFacts&) const = default;
};

struct GpuProfile {
  DeviceProfile device;
  bool builtin = false;  // peaks are a built-in profile's; otherwise those no attribute gives are 0
};

// nvcc's -arch for a compute capability: the architecture-specific target where there is one ("sm_90a"), so
// that its own instructions may be used.
std::string arch_of(int major, int minor);

// Sizes are always the driver's. Peaks are those of the built-in profile of that name, if it has as many SMs:
// a slice of a GPU (MIG) has a part of them, and which one is not known. L2's calibration holds for an L2 of
// the profile's size.
GpuProfile profile_of_gpu(const GpuFacts& facts);

}  // namespace attnprof
