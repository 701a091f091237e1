#include "measure/gpu/mma_rate.hpp"

#include <fmt/format.h>

#include "error.hpp"
#include "lib/mma_rate.h"
#include "measure/gpu/gpu_device.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

constexpr int rounds = 8192;  // about 2 ms on an H200
constexpr int warm_up_runs = 20;
constexpr int samples = 40;
constexpr double flops_of_an_instruction = 2.0 * 16 * 8 * 16;

KernelLaunch kernel_for(Dtype dtype) {
  KernelLaunch kernel;
  kernel.file = "lib/mma_rate.cu";
  kernel.entry = "mma_rate";
  kernel.macros = {{"DTYPE", std::to_string(static_cast<int>(dtype))}};
  kernel.threads = mma_rate_threads;
  return kernel;
}

// One launch after the other, so that clocks are those of a busy GPU.
MmaRate measure(const GpuDevice& gpu, const std::string& cubin, Dtype dtype) {
  const Module module(cubin);
  const CUfunction function = module.function("mma_rate");
  const DeviceBuffer sink(sizeof(float));
  const int sms = gpu.profile().sms;
  std::vector<Event> marks(samples + 1);
  const auto run = [&] {
    launch_with(function, {int64_t{mma_rate_blocks_per_sm} * sms}, mma_rate_threads, gpu.stream(), rounds,
                sink.get<float>());
  };
  for (int i = 0; i < warm_up_runs; ++i) run();
  marks[0].record(gpu.stream());
  for (size_t i = 1; i < marks.size(); ++i) {
    run();
    marks[i].record(gpu.stream());
  }
  std::vector<double> clocks, times;
  for (size_t i = 1; i < marks.size(); ++i) {
    marks[i].wait();
    times.push_back(elapsed_ns(marks[i - 1], marks[i]));
    if (i + 1 == marks.size()) break;  // the last is over: the clock may be falling
    if (const auto mhz = gpu.nvml().sm_clock_mhz()) clocks.push_back(*mhz);
  }
  MmaRate rate{dtype, mma_rate_flops(sms, rounds) / median(times) / 1e3, {}};
  if (!clocks.empty()) rate.sm_clock_mhz = median(clocks);
  return rate;
}

}  // namespace

double mma_rate_flops(int sms, int rounds_run) {
  const double warps = double{mma_rate_blocks_per_sm} * sms * (mma_rate_threads / 32.0);
  return warps * rounds_run * mma_rate_chains * flops_of_an_instruction;
}

std::vector<MmaRate> measure_mma_rates(const MeasureOptions& options) {
  driver();  // its sentence comes before the compiler's
  KernelCompiler compiler(compile_options(options));
  try {
    const GpuDevice gpu(options.device, compiler);
    std::vector<MmaRate> rates;
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16})
      rates.push_back(measure(gpu, compiler.compile(kernel_for(dtype), gpu.profile().arch).cubin, dtype));
    return rates;
  } catch (const CudaError& error) {
    throw EnvironmentError(fmt::format("the rate of mma.sync cannot be measured: {}", error.what()));
  } catch (const CaseFailed& error) {
    throw EnvironmentError(fmt::format("the rate of mma.sync cannot be measured: {}", error.what()));
  }
}

}  // namespace attnprof
