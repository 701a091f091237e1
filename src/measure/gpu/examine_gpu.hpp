// What `attnprof doctor` says of driver, GPUs, CUPTI and counters.
#pragma once

#include <vector>

#include "base/check.hpp"

namespace attnprof {

// Never throws, whatever is missing. Counters are tried on GPU `device`, with a context that is released
// again.
std::vector<Check> examine_gpu(int device);

}  // namespace attnprof
