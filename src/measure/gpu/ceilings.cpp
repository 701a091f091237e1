#include "measure/gpu/ceilings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "lib/ceilings.h"
#include "lib/clock_span.h"
#include "measure/compile/ceiling_kernels.hpp"
#include "measure/compile/compile_plan.hpp"
#include "measure/gpu/ceiling_cache.hpp"
#include "measure/gpu/gpu_device.hpp"
#include "measure/statistics.hpp"

namespace attnprof {
namespace {

using UInt64 = unsigned long long;

constexpr int warm_up_runs = 20;
constexpr int sample_count = 40;
constexpr int64_t gibibyte = int64_t{1} << 30;

// Launches of about 1 ms on an H200; a smaller GPU takes longer in proportion.
constexpr int l2_rounds = 256, smem_rounds = 1024, fma_rounds = 256, exp_rounds = 64;
constexpr int mma_rounds = 8192, wgmma_rounds = 2048;
constexpr int launches_at_once = 256;  // fewer than a stream's queue holds

class Bench {
 public:
  Bench(GpuDevice& gpu, KernelCompiler& compiler, const std::set<std::string, std::less<>>& wanted,
        const CeilingObserver& measured)
      : gpu_(gpu),
        compiler_(compiler),
        wanted_(wanted),
        measured_(measured),
        module_(compiler.compile(ceilings_module(), gpu.profile().arch).cubin),
        sink_(16) {}

  void memory();
  void on_chip();
  void tensor(const TensorRateKernel& kernel);
  void launches();
  bool wants(std::string_view name) const { return wanted_.empty() || wanted_.contains(name); }
  MeasuredCeilings take() { return std::move(result_); }

 private:
  int sms() const { return gpu_.profile().sms; }
  template <class... Parameters>
  void launch_ceiling(const char* entry, Parameters... parameters) const {
    launch_with(module_.function(entry), {int64_t{ceiling_blocks_per_sm} * sms()}, ceiling_threads,
                gpu_.stream(), parameters...);
  }
  void rate(std::string_view name, double work, const std::function<void(ClockReading*)>& run);
  void keep(std::string_view name, const std::vector<double>& values, const std::vector<double>& clocks);
  DeviceBuffer random_buffer(int64_t bytes) const;

  GpuDevice& gpu_;
  KernelCompiler& compiler_;
  const std::set<std::string, std::less<>>& wanted_;
  const CeilingObserver& measured_;
  Module module_;
  DeviceBuffer sink_;
  MeasuredCeilings result_;
};

void Bench::keep(std::string_view name, const std::vector<double>& values,
                 const std::vector<double>& clocks) {
  Ceiling ceiling;
  ceiling.median = median(values);
  ceiling.spread_pct = 100 * (quantile(values, 0.9) - quantile(values, 0.1)) / ceiling.median;
  ceiling.samples = static_cast<int>(values.size());
  if (!clocks.empty()) ceiling.sm_clock_mhz = median(clocks);
  const CeilingKind* kind = find_ceiling_kind(name);
  if (kind->nominal && gpu_.profile().*kind->nominal > 0) ceiling.nominal = gpu_.profile().*kind->nominal;
  result_.ceilings.insert_or_assign(std::string(name), ceiling);
  if (measured_) measured_(name, ceiling);
}

// One launch after the other, so that clocks are those of a busy GPU; each tells its own, since the driver's
// is some launches old. `work`: of one launch, in the ceiling's unit times a second: 1e9 bytes, 1e12 FLOPs,
// 1e9 operations. `run` enqueues a launch that leaves its clock there.
void Bench::rate(std::string_view name, double work, const std::function<void(ClockReading*)>& run) {
  if (!wants(name)) return;
  const std::vector<Event> marks(sample_count + 1);
  const DeviceBuffer readings(sample_count * sizeof(ClockReading));
  for (int i = 0; i < warm_up_runs; ++i) run(readings.get<ClockReading>());
  marks[0].record(gpu_.stream());
  for (size_t i = 0; i < sample_count; ++i) {
    run(readings.get<ClockReading>() + i);
    marks[i + 1].record(gpu_.stream());
  }
  std::array<ClockReading, sample_count> read{};
  readings.download(read.data(), sizeof read, gpu_.stream());
  std::vector<double> clocks, values;
  for (size_t i = 0; i < sample_count; ++i) {
    values.push_back(work * 1e9 / elapsed_ns(marks[i], marks[i + 1]));
    if (read[i].nanoseconds > 0)
      clocks.push_back(1e3 * static_cast<double>(read[i].cycles) / static_cast<double>(read[i].nanoseconds));
  }
  keep(name, values, clocks);
}

DeviceBuffer Bench::random_buffer(int64_t bytes) const {
  DeviceBuffer buffer(bytes);
  gpu_.harness().fill_random(buffer, bytes / 2, ElementType::bf16, {.seed = 1, .kind = InputKind::normal}, 0,
                             gpu_.stream());
  return buffer;
}

void Bench::memory() {
  const bool any = wants("hbm_read_gbps") || wants("hbm_write_gbps") || wants("hbm_copy_gbps");
  const int64_t room =
      std::min(gibibyte, free_device_bytes() / 4) / ceiling_chunk_bytes * ceiling_chunk_bytes;
  if (any && room < 8 * gpu_.profile().l2_bytes)
    result_.notices.push_back(
        fmt::format("HBM bandwidth is not measured: {} bytes of device "
                    "memory are free, too few beside an L2 of {} bytes",
                    free_device_bytes(), gpu_.profile().l2_bytes));
  else if (any) {
    const DeviceBuffer source = random_buffer(room), target(room);
    const auto chunks = static_cast<UInt64>(room / ceiling_chunk_bytes);
    const double gigabytes = static_cast<double>(room) / 1e9;
    rate("hbm_read_gbps", gigabytes, [&](ClockReading* clock) {
      launch_ceiling("read_memory", source.get(), chunks, 1, sink_.get(), clock);
    });
    rate("hbm_write_gbps", gigabytes,
         [&](ClockReading* clock) { launch_ceiling("write_memory", target.get(), chunks, 7u, clock); });
    rate("hbm_copy_gbps", 2 * gigabytes, [&](ClockReading* clock) {
      launch_ceiling("copy_memory", source.get(), target.get(), chunks, clock);
    });
  }
  if (!wants("l2_read_gbps")) return;
  const int64_t part =
      std::max<int64_t>(1, gpu_.profile().l2_bytes / 4 / ceiling_chunk_bytes) * ceiling_chunk_bytes;
  const DeviceBuffer held = random_buffer(part);
  const auto chunks = static_cast<UInt64>(part / ceiling_chunk_bytes);
  rate("l2_read_gbps", l2_rounds * static_cast<double>(part) / 1e9, [&](ClockReading* clock) {
    launch_ceiling("read_memory", held.get(), chunks, l2_rounds, sink_.get(), clock);
  });
}

void Bench::on_chip() {
  rate("smem_read_gbps", smem_rounds * smem_round_bytes(sms()) / 1e9,
       [&](ClockReading* clock) { launch_ceiling("read_shared", smem_rounds, sink_.get(), clock); });
  rate("fma_tflops", fma_rounds * fma_round_flops(sms()) / 1e12,
       [&](ClockReading* clock) { launch_ceiling("multiply_add", fma_rounds, sink_.get(), clock); });
  rate("exp_gops", exp_rounds * exp_round_operations(sms()) / 1e9,
       [&](ClockReading* clock) { launch_ceiling("exponentials", exp_rounds, sink_.get(), clock); });
}

void Bench::tensor(const TensorRateKernel& kernel) {
  const Module module(compiler_.compile(kernel.launch, gpu_.profile().arch).cubin);
  const CUfunction function = module.function(kernel.launch.entry);
  int rounds = kernel.ceiling.starts_with("wgmma") ? wgmma_rounds : mma_rounds;
  CUdeviceptr sink = sink_.address();
  rate(kernel.ceiling, rounds * kernel.flops_a_round / 1e12, [&](ClockReading* clock) {
    void* arguments[] = {&rounds, &sink, &clock};
    launch(function, kernel.launch.grid, kernel.launch.threads, kernel.launch.smem_bytes, gpu_.stream(),
           arguments);
  });
  gpu_.stream().synchronise();
}

// The stream is held while launches are enqueued: the host's own time is not in either figure.
void Bench::launches() {
  const CUfunction nothing = module_.function("nothing");
  const auto run = [&] { launch(nothing, {1}, 32, 0, gpu_.stream(), nullptr); };
  const Event start, end;
  std::vector<double> in_a_row, alone;
  for (int sample = 0; sample < sample_count / 2; ++sample) {
    gpu_.harness().spin(2'000'000, gpu_.stream());
    start.record(gpu_.stream());
    for (int i = 0; i < launches_at_once; ++i) run();
    end.record(gpu_.stream());
    end.wait();
    in_a_row.push_back(elapsed_ns(start, end) / launches_at_once);
  }
  for (int sample = 0; sample < 2 * sample_count; ++sample) {
    if (sample % 4 == 0) gpu_.next_stream();
    gpu_.evict();
    start.record(gpu_.stream());
    run();
    end.record(gpu_.stream());
    end.wait();
    alone.push_back(elapsed_ns(start, end));
  }
  if (wants("launch_ns")) keep("launch_ns", in_a_row, {});
  if (wants("event_floor_ns")) keep("event_floor_ns", alone, {});
}

std::vector<TensorRateKernel> tensor_rates_of(const GpuDevice& gpu) {
  const auto [major, minor] = gpu.compute_capability();
  return tensor_rate_kernels(major, minor, gpu.profile().sms);
}

// nvcc takes a second a kernel or more.
void compile_all(const std::vector<TensorRateKernel>& kernels, const std::string& arch,
                 KernelCompiler& compiler) {
  for_each_in_parallel(static_cast<int64_t>(kernels.size()) + 1,
                       std::max(1u, std::thread::hardware_concurrency()), [&](int64_t i) {
                         compiler.compile(
                             i == 0 ? ceilings_module() : kernels[static_cast<size_t>(i) - 1].launch, arch);
                       });
}

}  // namespace

MeasuredCeilings measure_ceilings(GpuDevice& gpu, KernelCompiler& compiler,
                                  const std::set<std::string, std::less<>>& wanted,
                                  const CeilingObserver& measured) {
  std::vector<TensorRateKernel> kernels = tensor_rates_of(gpu);
  std::erase_if(kernels, [&](const TensorRateKernel& kernel) {
    return !wanted.empty() && !wanted.contains(kernel.ceiling);
  });
  compile_all(kernels, gpu.profile().arch, compiler);
  Bench bench(gpu, compiler, wanted, measured);
  bench.memory();
  bench.on_chip();
  for (const TensorRateKernel& kernel : kernels) bench.tensor(kernel);
  if (bench.wants("launch_ns") || bench.wants("event_floor_ns")) bench.launches();
  return bench.take();
}

namespace {

// `work` with a device that is opened for it.
template <class Work>
auto on_device(const MeasureOptions& options, Work work) {
  driver();  // its sentence comes before the compiler's
  require_device(options.device);
  KernelCompiler compiler(compile_options(options));
  try {
    GpuDevice gpu(options.device, compiler);
    return work(gpu, compiler);
  } catch (const CudaError& error) {
    throw EnvironmentError(fmt::format("the ceilings cannot be measured: {}", error.what()));
  } catch (const CaseFailed& error) {
    throw EnvironmentError(fmt::format("the ceilings cannot be measured: {}", error.what()));
  }
}

CeilingCache cache_of(const GpuDevice& gpu, KernelCompiler& compiler) {
  std::string code = compiler.compile(ceilings_module(), gpu.profile().arch).code_hash;
  for (const TensorRateKernel& kernel : tensor_rates_of(gpu))
    code += compiler.compile(kernel.launch, gpu.profile().arch).code_hash;
  return {compiler.cache_root(), gpu.identity() + code};
}

}  // namespace

MeasuredCeilings measure_ceilings(const MeasureOptions& options,
                                  const std::set<std::string, std::less<>>& wanted,
                                  const CeilingObserver& measured) {
  return on_device(options, [&](GpuDevice& gpu, KernelCompiler& compiler) {
    return measure_ceilings(gpu, compiler, wanted, measured);
  });
}

RenewedCeilings renew_ceilings(const MeasureOptions& options, const CeilingObserver& measured) {
  return on_device(options, [&](GpuDevice& gpu, KernelCompiler& compiler) {
    RenewedCeilings renewed{gpu.profile(), measure_ceilings(gpu, compiler, {}, measured)};
    if (renewed.measured.notices.empty()) cache_of(gpu, compiler).keep(renewed.measured.ceilings);
    return renewed;
  });
}

MeasuredCeilings known_ceilings(GpuDevice& gpu, KernelCompiler& compiler) {
  compile_all(tensor_rates_of(gpu), gpu.profile().arch, compiler);
  const CeilingCache cache = cache_of(gpu, compiler);
  if (const auto kept = cache.find()) return {*kept, {}};
  MeasuredCeilings measured = measure_ceilings(gpu, compiler);
  if (measured.notices.empty()) cache.keep(measured.ceilings);  // else the next run tries for the rest
  return measured;
}

}  // namespace attnprof
