// How long the operation takes: CUDA events around all of its launches, from the case's cache state.
#pragma once

#include "measure/gpu/prepare.hpp"

namespace attnprof {

// Samples until the median's 95 % interval is within options.precision or options.max_time_s is spent, never
// fewer than 3. Warm-up runs are not among them. Adds the latency's flags to `status`. The operation must
// have run once.
Latency time_operation(PreparedCase& prepared, GpuDevice& gpu, const MeasureOptions& options, Status& status);

// Brings L2 into the case's cache state, before each sample; only enqueues. Cold: reads the clean buffer.
// Warm: runs the operation.
void condition_cache(const PreparedCase& prepared, const GpuDevice& gpu);

}  // namespace attnprof
