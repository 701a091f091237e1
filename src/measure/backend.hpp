// What measures a case: a GPU, the simulator, or in tests a fake. Each phase returns its group of the row.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device/ceilings.hpp"
#include "device/device_profile.hpp"
#include "problem/inputs.hpp"
#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

enum class VerifyMode { sampled, full, off };
enum class CounterMode { automatic, on, off };

struct MeasureOptions {
  VerifyMode verify = VerifyMode::sampled;
  CounterMode counters = CounterMode::automatic;
  bool ceilings = true;        // measured once a device and kept, for .meta.json and roofs
  double precision = 0.005;    // half-width of the median's 95 % interval over the median
  double max_time_s = 0.5;     // timing budget of a case
  double case_timeout_s = 30;  // a case that takes longer is failed and its worker replaced
  uint64_t seed = 1;
  InputKind input = InputKind::normal;
  int device = 0;
  std::string kernels_dir;  // empty: found beside the program
  std::string cache_dir;    // empty: XDG_CACHE_HOME/attnprof
};

// What a backend is and runs on; constant for a run.
struct BackendInfo {
  std::string name;  // gpu, sim
  DeviceProfile device;
  Ceilings ceilings;       // measured on this device; empty: none were
  int64_t free_bytes = 0;  // device memory a case may use
  // Facts for .meta.json (driver, CUDA, CUPTI and nvcc versions, ECC, power limit, ...).
  std::vector<std::pair<std::string, std::string>> environment;
  // The names among them that must agree for two rows to be comparable; env_id is their hash.
  std::vector<std::string> comparable;
  std::vector<std::string> notices;  // one line each, printed once: why there are no counters, say
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendInfo& info() const = 0;
  // The cases a run will measure, in order: a backend may compile ahead.
  virtual void announce(const std::vector<Case>&) {}
  // One case at a time, in this order; verify may be followed by nothing when it fails. Each may throw
  // CaseSkipped or CaseFailed with a sentence. prepare releases what an earlier case held.
  virtual Build prepare(const Case& c) = 0;
  virtual Verification verify() = 0;
  // Latency's flags (drift, throttled, gpu_shared, few_samples, imprecise) are added to `status`.
  virtual Latency time(Status& status) = 0;
  virtual Counters count(Status& status) = 0;
};

}  // namespace attnprof
