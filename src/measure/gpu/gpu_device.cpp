#include "measure/gpu/gpu_device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "error.hpp"
#include "model/device_profiles.hpp"
#include "variants/tiling.hpp"

namespace attnprof {
namespace {

// Kept free beside a case: modules, cuBLAS's workspace, the profiler's buffers.
constexpr int64_t reserved_bytes = 512ll << 20;

int attribute(CUdevice device, CUdevice_attribute wanted) {
  int value = 0;
  ATTNPROF_CU(cuDeviceGetAttribute, &value, wanted, device);
  return value;
}

CUdevice device_at(int index) {
  require_device(index);
  CUdevice device = 0;
  ATTNPROF_CU(cuDeviceGet, &device, index);
  return device;
}

std::string bus_id_of(int index) {
  char text[32] = "";
  ATTNPROF_CU(cuDeviceGetPCIBusId, text, sizeof text, device_at(index));
  return text;
}

std::string name_of(CUdevice device) {
  char text[256] = "";
  ATTNPROF_CU(cuDeviceGetName, text, sizeof text, device);
  return text;
}

// What follows from attributes alone, for a GPU nobody has calibrated: fp32 lanes and memory are known,
// tensor peaks are not (0: columns that need them stay empty).
DeviceProfile uncalibrated_profile(CUdevice device) {
  DeviceProfile profile;
  profile.sm_clock_mhz = attribute(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1e3;
  const double memory_mhz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) / 1e3;
  const double bus_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8.0;
  profile.hbm_gbps = 2 * memory_mhz * bus_bytes / 1e3;  // two transfers a clock
  const double gigacycles =
      attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * profile.sm_clock_mhz / 1e3;
  profile.smem_gbps = 128 * gigacycles;  // 32 banks of 4 B an SM and clock
  profile.exp_gops = 16 * gigacycles;
  const bool ga100 = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) == 8 &&
                     attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0;
  profile.fp32_tflops = 2 * (ga100 ? 64 : 128) * gigacycles / 1e3;
  return profile;
}

// Shapes and sizes are always this device's own: a MIG slice or a cut-down board differs from the full part.
DeviceProfile profile_of(CUdevice device, bool& has_builtin) {
  const std::string name = name_of(device);
  const auto builtin = find_profile_for_gpu(name);
  has_builtin = builtin.has_value();
  DeviceProfile profile = builtin ? *builtin : uncalibrated_profile(device);
  profile.name = name;
  if (!builtin) profile.title = name;
  profile.arch = arch_of(attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                         attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  profile.sms = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  profile.smem_per_sm_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  profile.smem_per_block_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  profile.registers_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  profile.max_threads_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  profile.max_ctas_per_sm = attribute(device, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  size_t total = 0;
  ATTNPROF_CU(cuDeviceTotalMem, &total, device);
  profile.hbm_bytes = static_cast<int64_t>(total);
  const int64_t l2_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  if (l2_bytes != profile.l2_bytes && !profile.l2_curve.empty()) profile.l2_curve.clear();
  profile.l2_bytes = l2_bytes;
  return profile;
}

// At least 4 x L2, in whole MiB.
int64_t evict_bytes(const DeviceProfile& profile) {
  return round_up(4 * std::max<int64_t>(profile.l2_bytes, 1 << 20), 1 << 20);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

std::string arch_of(int major, int minor) {
  const bool specific = major >= 9;  // sm_90a, sm_100a, sm_120a; earlier parts have no such target
  return fmt::format("sm_{}{}{}", major, minor, specific ? "a" : "");
}

GpuDevice::GpuDevice(int index, KernelCompiler& compiler)
    : index_(index),
      bus_id_(bus_id_of(index)),
      nvml_(bus_id_),
      context_([&] {
        processes_before_ = nvml_.processes();
        return index;
      }()),
      neighbours_(processes_before_, nvml_.processes(), static_cast<uint32_t>(getpid())),
      profile_(profile_of(context_.device(), has_builtin_profile_)),
      harness_(compiler.compile(harness_kernel(), profile_.arch).cubin, profile_.sms),
      evict_buffer_(evict_bytes(profile_)) {
  evict_buffer_.fill(1, stream_);
  evict();  // pushes the fill's own dirty lines out
  stream_.synchronise();
}

bool GpuDevice::has_bulk_copy() const {
  return attribute(context_.device(), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9;
}

int64_t GpuDevice::case_bytes() const {
  return std::max<int64_t>(0, free_device_bytes() + evict_buffer_.bytes() - reserved_bytes);
}

const Cublas& GpuDevice::cublas() {
  if (!cublas_) cublas_ = std::make_unique<Cublas>(stream_);
  return *cublas_;
}

std::optional<size_t> GpuDevice::other_processes() const {
  const auto processes = nvml_.processes();
  if (!processes) return std::nullopt;
  return neighbours_.others(*processes);
}

std::vector<std::pair<std::string, std::string>> GpuDevice::environment(const Toolchain& toolchain) const {
  const auto on_off = [](const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : ""; };
  const auto power = nvml_.power_limit_w();
  return {{"gpu", profile_.name},
          {"gpu_index", fmt::format("{}", index_)},
          {"arch", profile_.arch},
          {"driver", nvml_.driver_version().value_or("")},
          {"cuda_driver", cuda_version_text(driver().version)},
          {"nvcc", toolchain.version},
          {"ecc", on_off(nvml_.ecc())},
          {"mig", on_off(nvml_.mig())},
          {"power_limit_w", power ? fmt::format("{:.0f}", *power) : ""},
          {"input", "normal"}};
}

std::vector<std::string> GpuDevice::comparable_facts() {
  return {"gpu", "driver", "cuda_driver", "nvcc", "ecc", "mig", "power_limit_w", "input"};
}

}  // namespace attnprof
