// From what was asked for to the backend that measures.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "measure/backend.hpp"

namespace attnprof {

enum class BackendChoice { automatic, gpu, sim };

struct DeviceChoice {
  BackendChoice backend = BackendChoice::automatic;
  std::string target;       // simulated device; empty: default_target, unless --target-file
  std::string target_file;  // a profile of one's own

  bool names_target() const { return !target.empty() || !target_file.empty(); }
};
inline constexpr std::string_view default_target = "h200";

// The simulated device that was asked for. Throws UsageError listing the known ones.
DeviceProfile target_profile(const DeviceChoice& choice);

struct OpenBackend {
  std::unique_ptr<Backend> backend;
  std::string why;  // for stderr: which backend, and why `auto` chose it
};

// Throws EnvironmentError when `gpu` was asked for and there is none, UsageError when `gpu` comes with a
// target.
OpenBackend open_backend(const DeviceChoice& choice, const MeasureOptions& options);
// It, or what tests bring in its place.
using BackendOpener = std::function<OpenBackend(const DeviceChoice&, const MeasureOptions&)>;

// What the hidden `attnprof worker` runs; its exit code. Throws EnvironmentError where there is no gpu
// backend.
int serve_gpu_worker_process();

}  // namespace attnprof
