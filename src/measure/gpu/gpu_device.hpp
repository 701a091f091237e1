// One GPU as the measuring code uses it: what it is, a context and streams on it, the harness kernels and
// the clean buffer that is read to evict L2. Also what the counters' self-test builds on.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/device_profile.hpp"
#include "measure/compile/compile.hpp"
#include "measure/gpu/cublas.hpp"
#include "measure/gpu/cuda_objects.hpp"
#include "measure/gpu/gpu_profile.hpp"
#include "measure/gpu/harness.hpp"
#include "measure/gpu/nvml.hpp"

namespace attnprof {

class GpuDevice {
 public:
  // Opens device `index`. Throws EnvironmentError with a sentence for no driver, stub, no such device.
  GpuDevice(int index, KernelCompiler& compiler);

  const Context& context() const { return context_; }
  // The present stream: all work of a case is enqueued there.
  const Stream& stream() const { return streams_[stream_index_]; }
  // Goes on with the next of a few streams once the present one is idle. What the driver keeps for a stream
  // (its queue, the launches' descriptors and arguments) lies somewhere in device memory too, and the launch
  // of a kernel after L2 was evicted takes 0.1 to 0.5 us more or less by where.
  void next_stream();
  const Nvml& nvml() const { return nvml_; }
  const Harness& harness() const { return harness_; }
  // The driver's figures; peaks and calibration from the built-in profile of this GPU, where there is one.
  const DeviceProfile& profile() const { return gpu_profile_.device; }
  bool has_builtin_profile() const { return gpu_profile_.builtin; }
  // Whether the bulk-copy engine (TMA) exists: compute capability 9.0 and later.
  bool has_bulk_copy() const;
  std::pair<int, int> compute_capability() const;  // major, minor
  // Device memory for a case: its operands, workspace and an eviction buffer (plan/sweep.hpp).
  int64_t case_bytes() const;

  // Enqueues the read that leaves nothing else in L2, and no dirty line.
  void evict() const { harness_.read(evict_buffer_, evict_buffer_.bytes(), stream()); }
  // Opened at the first use: its libraries are large.
  const Cublas& cublas();
  // Other processes with a context on this GPU; nothing where the driver does not tell.
  std::optional<size_t> other_processes() const;

  // Facts about machine and set-up for the .meta.json, and which of them must agree between comparable rows.
  std::vector<std::pair<std::string, std::string>> environment(const Toolchain& toolchain) const;
  static std::vector<std::string> comparable_facts();
  // Names this very card as it is set up now: bus id, driver, ECC, MIG, power limit.
  std::string identity() const;

 private:
  std::vector<std::pair<std::string, std::string>> card() const;

  int index_;
  std::optional<std::vector<uint32_t>> processes_before_;  // on the GPU before our context was made
  std::string bus_id_;
  Nvml nvml_;
  Context context_;
  GpuNeighbours neighbours_;
  GpuProfile gpu_profile_;
  std::array<Stream, 8> streams_;
  size_t stream_index_ = 0;
  Harness harness_;
  DeviceBuffer evict_buffer_;
  std::unique_ptr<Cublas> cublas_;  // last: it uses streams and context
};

}  // namespace attnprof
