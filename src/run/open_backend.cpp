#include "run/open_backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "device/device_profiles.hpp"
#include "measure/sim/backend.hpp"
#if ATTNPROF_WITH_GPU
#include "measure/gpu/open.hpp"
#endif

namespace attnprof {
namespace {

#if ATTNPROF_WITH_GPU
std::unique_ptr<Backend> open_gpu(const MeasureOptions& options) { return open_gpu_backend(options); }
int serve_gpu() { return serve_gpu_worker(); }
#else
[[noreturn]] void refuse_gpu() {
  throw EnvironmentError(
      "this attnprof was built without CUDA headers, so it has no gpu backend; build it where a CUDA "
      "Toolkit or NVIDIA's Python wheels are installed");
}
std::unique_ptr<Backend> open_gpu(const MeasureOptions&) { refuse_gpu(); }
int serve_gpu() { refuse_gpu(); }
#endif

OpenBackend open_sim(const DeviceChoice& choice, const MeasureOptions& options, const std::string& reason) {
  if (options.counters == CounterMode::on)
    throw UsageError(
        "--counters on asks for hardware counters, which the "
        "simulator does not have; leave it out, or give --backend gpu");
  const DeviceProfile target = target_profile(choice);
  return {make_sim_backend(target, options), fmt::format("backend sim, target {}: {}", target.name, reason)};
}

OpenBackend open_automatic(const DeviceChoice& choice, const MeasureOptions& options) {
  if (choice.names_target()) return open_sim(choice, options, "a target was given, which only sim has");
  try {
    auto backend = open_gpu(options);
    const std::string why = fmt::format("backend gpu: {} was found", backend->info().device.name);
    return {std::move(backend), why};
  } catch (const EnvironmentError& error) {
    if (options.counters == CounterMode::on)
      throw EnvironmentError(fmt::format("--counters on needs the gpu backend: {}", error.what()));
    return open_sim(choice, options, error.what());
  }
}

}  // namespace

int serve_gpu_worker_process() { return serve_gpu(); }

DeviceProfile target_profile(const DeviceChoice& choice) {
  if (!choice.target_file.empty()) return load_profile(choice.target_file);
  const std::string name = choice.target.empty() ? std::string(default_target) : choice.target;
  if (const DeviceProfile* profile = find_profile(name)) return *profile;
  std::vector<std::string> known;
  for (const DeviceProfile& profile : all_profiles()) known.push_back(profile.name);
  throw UsageError(fmt::format("--target '{}' is none of {}{}", name, fmt::join(known, ", "),
                               did_you_mean(name, known, "--target-file takes a profile of your own")));
}

OpenBackend open_backend(const DeviceChoice& choice, const MeasureOptions& options) {
  if (choice.backend == BackendChoice::automatic) return open_automatic(choice, options);
  if (choice.backend == BackendChoice::sim) return open_sim(choice, options, "asked for");
  if (choice.names_target())
    throw UsageError(
        "--target names a device to simulate, --backend gpu measures the one that is there; give one of "
        "them, or --dry-run to see the plan for a target");
  auto backend = open_gpu(options);
  const std::string why = fmt::format("backend gpu: {}", backend->info().device.name);
  return {std::move(backend), why};
}

}  // namespace attnprof
