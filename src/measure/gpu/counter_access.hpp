// Whether hardware counters of a device can be read.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

namespace attnprof {

struct CounterAccess {
  std::string chip;                   // GH100
  std::vector<uint8_t> availability;  // CUPTI's image of what can be counted now
};

// Makes this process a client of CUPTI's profiler. `context` must be current. Throws EnvironmentError: why
// counters cannot be read and what to do.
CounterAccess open_counters(CUcontext context, int device);

}  // namespace attnprof
