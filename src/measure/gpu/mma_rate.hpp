// The rate of mma.sync on this GPU: the ceiling of kernels that multiply with it. On Hopper and later that is
// well under what the tensor cores do through wgmma, which nominal peaks are of.
#pragma once

#include <optional>
#include <vector>

#include "measure/backend.hpp"

namespace attnprof {

struct MmaRate {
  Dtype dtype = Dtype::bf16;  // of the operands; fp32 accumulators
  double tflops_per_s = 0;
  std::optional<double> sm_clock_mhz;  // median while it ran
};

// fp16 and bf16, random operands in registers (kernels/lib/mma_rate.cu): the median of 40 launches of about
// 2 ms. Throws EnvironmentError where the GPU cannot be used.
std::vector<MmaRate> measure_mma_rates(const MeasureOptions& options);

// FLOPs of one launch of the kernel.
double mma_rate_flops(int sms, int rounds);

}  // namespace attnprof
