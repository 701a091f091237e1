#include "measure/compile/ceiling_kernels.hpp"

#include <string>

#include "lib/ceilings.h"
#include "lib/tensor_rate.h"

namespace attnprof {
namespace {

double threads_of(int sms) { return double{ceiling_threads} * ceiling_blocks_per_sm * sms; }

KernelLaunch tensor_kernel(const char* name, Dtype dtype, int blocks, int smem_bytes) {
  KernelLaunch kernel;
  kernel.file = std::string("lib/") + name + ".cu";
  kernel.entry = name;
  kernel.macros = {{"DTYPE", std::to_string(static_cast<int>(dtype))}};
  kernel.grid = {blocks};
  kernel.threads = tensor_rate_threads;
  kernel.smem_bytes = smem_bytes;
  return kernel;
}

TensorRateKernel mma(std::string_view ceiling, Dtype dtype, int sms) {
  const int blocks = mma_rate_blocks_per_sm * sms;
  return {ceiling, tensor_kernel("mma_rate", dtype, blocks, 0),
          blocks * mma_rate_round_flops(dtype == Dtype::fp8)};
}

TensorRateKernel wgmma(std::string_view ceiling, Dtype dtype, int sms) {
  return {ceiling, tensor_kernel("wgmma_rate", dtype, sms, wgmma_rate_smem_bytes),
          sms * wgmma_rate_round_flops(dtype == Dtype::fp8)};
}

}  // namespace

KernelLaunch ceilings_module() {
  KernelLaunch kernel;
  kernel.file = "lib/ceilings.cu";
  kernel.entry = "read_memory";
  kernel.threads = ceiling_threads;
  return kernel;
}

std::vector<TensorRateKernel> tensor_rate_kernels(int major, int minor, int sms) {
  std::vector<TensorRateKernel> kernels;
  if (major >= 8) {
    kernels.push_back(mma("mma_fp16_tflops", Dtype::fp16, sms));
    kernels.push_back(mma("mma_bf16_tflops", Dtype::bf16, sms));
  }
  if (major > 8 || (major == 8 && minor >= 9)) kernels.push_back(mma("mma_fp8_tflops", Dtype::fp8, sms));
  if (major == 9) {
    kernels.push_back(wgmma("wgmma_fp16_tflops", Dtype::fp16, sms));
    kernels.push_back(wgmma("wgmma_bf16_tflops", Dtype::bf16, sms));
    kernels.push_back(wgmma("wgmma_fp8_tflops", Dtype::fp8, sms));
  }
  return kernels;
}

double smem_round_bytes(int sms) { return threads_of(sms) * ceiling_smem_reads * 16; }
double fma_round_flops(int sms) { return threads_of(sms) * ceiling_steps * ceiling_chains * 2; }
double exp_round_operations(int sms) { return threads_of(sms) * ceiling_steps * ceiling_chains; }

}  // namespace attnprof
