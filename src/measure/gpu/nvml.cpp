#include "measure/gpu/nvml.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <set>

struct nvmlDevice_st;  // NVML's own, opaque

namespace attnprof {
namespace {

// NVML's stable binary interface, as its reference manual documents it: the header is not part of every
// toolkit installation.
using Device = nvmlDevice_st*;
struct ProcessInfo {  // nvmlProcessInfo_t, version of the _v3 calls
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance;
  unsigned compute_instance;
};
constexpr int success = 0;            // NVML_SUCCESS
constexpr int insufficient_size = 7;  // NVML_ERROR_INSUFFICIENT_SIZE
constexpr unsigned clock_sm = 1;      // NVML_CLOCK_SM
// nvmlClocksEventReasons: software power cap, hardware slowdown, software and hardware thermal slowdown,
// power brake. Not idle, application clocks or display settings.
constexpr unsigned long long slowdown_reasons = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  Device device = nullptr;
  int (*shutdown)() = nullptr;

  template <class Function>
  Function* find(const char* name) const {
    return handle ? reinterpret_cast<Function*>(dlsym(handle, name)) : nullptr;
  }
  // Adds the processes one of NVML's lists has. False when it cannot be read.
  bool add_processes(const char* call, std::set<uint32_t>& pids) const {
    const auto list = find<int(Device, unsigned*, ProcessInfo*)>(call);
    if (!list) return false;
    std::vector<ProcessInfo> infos(64);
    unsigned count = static_cast<unsigned>(infos.size());
    int result = list(device, &count, infos.data());
    if (result == insufficient_size) {
      infos.resize(count + 16);
      count = static_cast<unsigned>(infos.size());
      result = list(device, &count, infos.data());
    }
    if (result != success) return false;
    for (unsigned i = 0; i < count; ++i) pids.insert(infos[i].pid);
    return true;
  }
};

Nvml::Nvml(const std::string& pci_bus_id, const std::string& library)
    : library_(std::make_unique<Library>()) {
  library_->handle = dlopen(library.c_str(), RTLD_NOW);
  const auto init = library_->find<int()>("nvmlInit_v2");
  const auto by_bus_id = library_->find<int(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  if (!init || !by_bus_id || init() != success) return;
  library_->shutdown = library_->find<int()>("nvmlShutdown");
  if (by_bus_id(pci_bus_id.c_str(), &library_->device) != success) library_->device = nullptr;
}

Nvml::~Nvml() {
  if (library_->shutdown) library_->shutdown();
  if (library_->handle) dlclose(library_->handle);
}

bool Nvml::available() const { return library_->device != nullptr; }

std::optional<std::string> Nvml::driver_version() const {
  char text[96] = "";
  const auto get = library_->find<int(char*, unsigned)>("nvmlSystemGetDriverVersion");
  if (!available() || !get || get(text, sizeof text) != success) return std::nullopt;
  return text;
}

std::optional<double> Nvml::sm_clock_mhz() const {
  unsigned mhz = 0;
  const auto get = library_->find<int(Device, unsigned, unsigned*)>("nvmlDeviceGetClockInfo");
  if (!available() || !get || get(library_->device, clock_sm, &mhz) != success) return std::nullopt;
  return mhz;
}

std::optional<bool> Nvml::throttled() const {
  unsigned long long reasons = 0;
  // The older of its two names, which newer libraries keep.
  const auto get =
      library_->find<int(Device, unsigned long long*)>("nvmlDeviceGetCurrentClocksThrottleReasons");
  if (!available() || !get || get(library_->device, &reasons) != success) return std::nullopt;
  return (reasons & slowdown_reasons) != 0;
}

std::optional<bool> Nvml::ecc() const {
  unsigned current = 0, pending = 0;
  const auto get = library_->find<int(Device, unsigned*, unsigned*)>("nvmlDeviceGetEccMode");
  if (!available() || !get || get(library_->device, &current, &pending) != success) return std::nullopt;
  return current != 0;
}

std::optional<bool> Nvml::mig() const {
  unsigned current = 0, pending = 0;
  const auto get = library_->find<int(Device, unsigned*, unsigned*)>("nvmlDeviceGetMigMode");
  if (!available() || !get || get(library_->device, &current, &pending) != success) return std::nullopt;
  return current != 0;
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned milliwatts = 0;
  const auto get = library_->find<int(Device, unsigned*)>("nvmlDeviceGetEnforcedPowerLimit");
  if (!available() || !get || get(library_->device, &milliwatts) != success) return std::nullopt;
  return milliwatts / 1000.0;
}

std::optional<std::vector<uint32_t>> Nvml::processes() const {
  std::set<uint32_t> pids;
  if (!available() || !library_->add_processes("nvmlDeviceGetComputeRunningProcesses_v3", pids))
    return std::nullopt;
  library_->add_processes("nvmlDeviceGetMPSComputeRunningProcesses_v3", pids);
  return std::vector<uint32_t>(pids.begin(), pids.end());
}

GpuNeighbours::GpuNeighbours(const std::optional<std::vector<uint32_t>>& before,
                             const std::optional<std::vector<uint32_t>>& after, uint32_t own_pid) {
  if (!before || !after) return;
  if (std::ranges::find(*after, own_pid) != after->end()) {
    own_ = own_pid;
    return;
  }
  std::vector<uint32_t> appeared;
  std::ranges::set_difference(*after, *before, std::back_inserter(appeared));
  if (appeared.size() == 1) own_ = appeared.front();
}

size_t GpuNeighbours::others(const std::vector<uint32_t>& processes) const {
  // Where our own id could not be told, one of the list is taken to be us.
  if (!own_) return processes.empty() ? 0 : processes.size() - 1;
  return static_cast<size_t>(std::ranges::count_if(processes, [&](uint32_t pid) { return pid != *own_; }));
}

}  // namespace attnprof
