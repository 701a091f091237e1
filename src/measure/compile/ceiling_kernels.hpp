// The kernels behind the ceilings (kernels/lib/ceilings.cu, mma_rate.cu, wgmma_rate.cu): what to compile for
// a GPU, and how much work a launch does. No GPU is needed here.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"
#include "schedule/step.hpp"

namespace attnprof {

// All entries of ceilings.cu are one module.
KernelLaunch ceilings_module();

// A kernel that does nothing but products on tensor cores.
struct TensorRateKernel {
  std::string_view ceiling;  // its name in ceiling_kinds
  KernelLaunch launch;       // grid, threads and shared memory as they are for `sms`
  double flops_a_round = 0;  // of the whole launch
};

// By instruction and dtype, as far as compute capability major.minor has it: mma.sync in fp16 and bf16 from
// 8.0, in fp8 from 8.9 (where the compiler converts to 16 bits it is slower than those, on Hopper for one),
// wgmma on 9.x alone.
std::vector<TensorRateKernel> tensor_rate_kernels(int major, int minor, int sms);

// What one round of the other kernels does on `sms` SMs.
double smem_round_bytes(int sms);
double fma_round_flops(int sms);
double exp_round_operations(int sms);

}  // namespace attnprof
