#include "measure/gpu/gpu_device.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/error.hpp"
#include "measure/comparable_facts.hpp"
#include "measure/gpu/gpu_facts.hpp"
#include "schedule/tiling.hpp"

namespace attnprof {
namespace {

// Kept free beside a case: modules, cuBLAS's workspace, the profiler's buffers.
constexpr int64_t reserved_bytes = 512ll << 20;

CUdevice device_at(int index) {
  require_device(index);
  CUdevice device = 0;
  ATTNPROF_CU(cuDeviceGet, &device, index);
  return device;
}

// At least 4 x L2, in whole MiB.
int64_t evict_bytes(const DeviceProfile& profile) {
  return round_up(4 * std::max<int64_t>(profile.l2_bytes, 1 << 20), 1 << 20);
}

std::string cuda_version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace

GpuDevice::GpuDevice(int index, KernelCompiler& compiler)
    : index_(index),
      bus_id_(bus_id_of(device_at(index))),
      nvml_(bus_id_),
      context_([&] {
        processes_before_ = nvml_.processes();
        return index;
      }()),
      neighbours_(processes_before_, nvml_.processes(), static_cast<uint32_t>(getpid())),
      gpu_profile_(profile_of_gpu(gpu_facts_of(context_.device()))),
      harness_(compiler.compile(harness_kernel(), profile().arch).cubin, profile().sms),
      evict_buffer_(evict_bytes(profile())) {
  evict_buffer_.fill(1, stream());
  evict();  // pushes the fill's own dirty lines out
  stream().synchronise();
}

bool GpuDevice::has_bulk_copy() const { return compute_capability().first >= 9; }

std::pair<int, int> GpuDevice::compute_capability() const {
  return {device_attribute(context_.device(), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          device_attribute(context_.device(), CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

int64_t GpuDevice::case_bytes() const {
  return std::max<int64_t>(0, free_device_bytes() + evict_buffer_.bytes() - reserved_bytes);
}

void GpuDevice::next_stream() {
  stream().synchronise();
  stream_index_ = (stream_index_ + 1) % streams_.size();
  if (cublas_) cublas_->use(stream());
}

const Cublas& GpuDevice::cublas() {
  if (!cublas_) cublas_ = std::make_unique<Cublas>(stream());
  return *cublas_;
}

std::optional<size_t> GpuDevice::other_processes() const {
  const auto processes = nvml_.processes();
  if (!processes) return std::nullopt;
  return neighbours_.others(*processes);
}

// The card and its settings, without what measures it.
std::vector<std::pair<std::string, std::string>> GpuDevice::card() const {
  const auto on_off = [](const std::optional<bool>& value) { return value ? (*value ? "on" : "off") : ""; };
  const auto power = nvml_.power_limit_w();
  return {{"gpu", profile().name},
          {"gpu_index", fmt::format("{}", index_)},
          {"arch", profile().arch},
          {"driver", nvml_.driver_version().value_or("")},
          {"cuda_driver", cuda_version_text(driver().version)},
          {"ecc", on_off(nvml_.ecc())},
          {"mig", on_off(nvml_.mig())},
          {"power_limit_w", power ? fmt::format("{:.0f}", *power) : ""}};
}

std::vector<std::pair<std::string, std::string>> GpuDevice::environment(const Toolchain& toolchain) const {
  auto facts = card();
  const auto after = std::ranges::find(facts, "cuda_driver", [](const auto& fact) { return fact.first; });
  facts.insert(std::next(after), {"nvcc", toolchain.version});
  return facts;
}

std::string GpuDevice::identity() const {
  std::string text = bus_id_;
  for (const auto& [name, value] : card()) text += fmt::format(";{}={}", name, value);
  return text;
}

std::vector<std::string> GpuDevice::comparable_facts() { return names_of(measured_facts); }

}  // namespace attnprof
