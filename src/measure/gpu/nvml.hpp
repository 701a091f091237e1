// NVIDIA's management library, opened at run time: clocks, limits and other processes on a GPU. Everything is
// optional: without the library, or where a call is not supported, a value is absent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attnprof {

class Nvml {
 public:
  // `pci_bus_id`: of the GPU, as the driver names it ("0000:18:00.0").
  explicit Nvml(const std::string& pci_bus_id, const std::string& library = "libnvidia-ml.so.1");
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool available() const;
  std::optional<std::string> driver_version() const;  // "580.159.03"
  std::optional<double> sm_clock_mhz() const;
  // True when power, heat or an external signal holds the clocks down.
  std::optional<bool> throttled() const;
  std::optional<bool> ecc() const;
  std::optional<bool> mig() const;
  std::optional<double> power_limit_w() const;
  // Process ids with a context on the GPU, as the host numbers them.
  std::optional<std::vector<uint32_t>> processes() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
};

// Counts processes on the GPU that are not this one. In a container the host's ids differ from ours, so this
// process is the one that appeared when its context was made.
class GpuNeighbours {
 public:
  // `before`, `after`: Nvml::processes around the making of this process's context.
  GpuNeighbours(const std::optional<std::vector<uint32_t>>& before,
                const std::optional<std::vector<uint32_t>>& after, uint32_t own_pid);
  // How many of `processes` are others.
  size_t others(const std::vector<uint32_t>& processes) const;

 private:
  std::optional<uint32_t> own_;  // as the host numbers it, where it could be told
};

}  // namespace attnprof
