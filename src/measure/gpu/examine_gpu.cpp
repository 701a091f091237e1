#include "measure/gpu/examine_gpu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "base/error.hpp"
#include "measure/gpu/counter_error.hpp"
#include "measure/gpu/counters.hpp"
#include "measure/gpu/cublas.hpp"
#include "measure/gpu/cupti.hpp"
#include "measure/gpu/driver.hpp"
#include "measure/gpu/gpu_facts.hpp"
#include "measure/gpu/nvml.hpp"

namespace attnprof {
namespace {

using State = Check::State;

std::string cuda_version(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

std::string describe_driver() {
  const Driver& opened = driver();
  return fmt::format("NVIDIA driver for CUDA {} at {}", cuda_version(opened.version), opened.path);
}

// Both of a GPU, from queries that need no context.
struct Gpu {
  CUdevice device = 0;
  std::string bus_id;

  explicit Gpu(int index) {
    ATTNPROF_CU(cuDeviceGet, &device, index);
    char text[32] = "";
    ATTNPROF_CU(cuDeviceGetPCIBusId, text, sizeof text, device);
    bus_id = text;
  }
  int attribute(CUdevice_attribute wanted) const { return device_attribute(device, wanted); }
};

// "ECC on, MIG off, power limit 700 W": what NVML tells.
std::string describe_settings(const Nvml& nvml) {
  std::vector<std::string> parts;
  const auto on_off = [&](const char* name, std::optional<bool> value) {
    if (value) parts.push_back(fmt::format("{} {}", name, *value ? "on" : "off"));
  };
  if (const auto version = nvml.driver_version()) parts.push_back("driver " + *version);
  on_off("ECC", nvml.ecc());
  on_off("MIG", nvml.mig());
  if (const auto watts = nvml.power_limit_w()) parts.push_back(fmt::format("power limit {:.0f} W", *watts));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string describe_gpu(const Gpu& gpu) {
  char name[256] = "";
  ATTNPROF_CU(cuDeviceGetName, name, sizeof name, gpu.device);
  size_t memory = 0;
  ATTNPROF_CU(cuDeviceTotalMem, &memory, gpu.device);
  const Nvml nvml(gpu.bus_id);
  const std::string settings = nvml.available() ? describe_settings(nvml) : "NVML is not available";
  return fmt::format("{}, compute capability {}.{}, {} SMs, {:.1f} GB, L2 {:.1f} MB; {}", name,
                     gpu.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                     gpu.attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
                     gpu.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
                     static_cast<double>(memory) / 1e9,
                     gpu.attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) / 1e6, settings);
}

// Asked before this process has a context, so that every process in the list is another.
Check examine_neighbours(const std::string& topic, const Gpu& gpu) {
  const auto processes = Nvml(gpu.bus_id).processes();
  if (!processes) return {State::note, topic, "the driver does not tell which processes use it"};
  if (processes->empty()) return {State::ok, topic, "no other process uses it"};
  return {State::note, topic,
          fmt::format(
              "{} other process{} on it (host's ids: {}): times will vary, and HBM bytes count theirs too",
              processes->size(), processes->size() == 1 ? " is" : "es are", fmt::join(*processes, ", "))};
}

void examine_gpus(std::vector<Check>& checks) {
  const int count = device_count();
  for (int index = 0; index < count; ++index) {
    const std::string topic = fmt::format("GPU {}", index);
    checks.push_back(examine(topic, [&] { return describe_gpu(Gpu(index)); }));
    if (checks.back().state == State::ok)
      checks.push_back(examine_neighbours(topic + " processes", Gpu(index)));
  }
}

std::string describe_cupti() {
  const uint32_t version = cupti().version;
  return fmt::format("CUPTI {}.{} at {}", version / 10000, version % 10000 / 100, cupti().path);
}

std::string describe_counters(const Context& context, int device) {
  const auto session = CounterSession::open(context.get(), device);
  return fmt::format("hardware counters of {} can be read", session->chip());
}

void examine_in_context(int device, std::vector<Check>& checks) {
  require_device(device);
  const Context context(device);
  checks.push_back(examine("counters", [&] { return describe_counters(context, device); }));
  checks.push_back(examine("cuBLAS", [&] {
    const Stream stream;
    return "cuBLAS " + Cublas(stream).version();
  }));
}

// What the driver's settings say of permission where no counter can be tried.
Check untried_counters() {
  const std::optional<bool> restricted = counters_are_restricted();
  if (!restricted) return {State::note, "counters", "not tried without a GPU"};
  return {State::note, "counters",
          *restricted ? "the driver restricts counters to administrators: " + counter_permission_remedies()
                      : "the driver lets every user read counters; not tried without a GPU"};
}

}  // namespace

std::vector<Check> examine_gpu(int device) {
  std::vector<Check> checks = {
      {State::ok, "build", fmt::format("made with CUDA {} headers", cuda_version(CUDA_VERSION))},
      examine("driver", describe_driver)};
  const bool has_driver = checks.back().state == State::ok;
  checks.push_back(examine("CUPTI", describe_cupti));
  try {
    if (has_driver) examine_gpus(checks);
    if (has_driver) examine_in_context(device, checks);
  } catch (const std::exception& error) {
    checks.push_back({State::missing, "GPU", error.what()});
  }
  if (!has_driver) checks.push_back(untried_counters());
  return checks;
}

}  // namespace attnprof
