#include "measure/gpu/counter_error.hpp"

#include <fmt/format.h>

#include <fstream>

namespace attnprof {
namespace {

std::string permission_sentence() {
  const std::optional<bool> restricted = counters_are_restricted();
  const std::string_view setting = !restricted   ? ""
                                   : *restricted ? " (/proc/driver/nvidia/params: RmProfilingAdminOnly is 1)"
                                                 : " (although RmProfilingAdminOnly is 0)";
  return fmt::format("the driver gives this process no permission for hardware counters{}: {}", setting,
                     counter_permission_remedies());
}

// Cause and remedy. CUPTI's own names say little to somebody who has not read its manual.
std::string cause(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return permission_sentence();
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another CUPTI client is active in this process (ncu, compute-sanitizer, a profiler library "
             "that was injected): run attnprof without it";
    case CUPTI_ERROR_HARDWARE_BUSY:
      return "another tool holds the GPU's counters (DCGM, ncu, nsys or another profiling process): stop it, "
             "for DCGM with `dcgmi profiling --pause`";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "this is a virtual GPU without profiling: the host's "
             "administrator must enable it in the vGPU's configuration";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
      return "counters cannot be read on this MIG instance: use a GPU without MIG";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "confidential computing is on, which forbids counters: use a GPU without it";
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return "counters are not available to this GPU under WSL: use Linux itself";
    case CUPTI_ERROR_NOT_INITIALIZED:
      return "CUPTI cannot talk to the driver, most often because it is newer or older than the driver: use "
             "the CUPTI of the CUDA version that `nvidia-smi` shows, or update the driver";
    case CUPTI_ERROR_INVALID_CHIP_NAME:
      return "this CUPTI does not know the GPU's chip: use a newer one";
    case CUPTI_ERROR_INVALID_PARAMETER:
      return "CUPTI refused a parameter, most often because the library is older than the headers attnprof "
             "was built with: use a CUPTI of the same version";
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
      return "this GPU's configuration (mining card or SLI) has no counters";
    default:
      return "hardware counters failed";
  }
}

}  // namespace

std::string counter_permission_remedies() {
  return "run with CAP_SYS_ADMIN (or CAP_PERFMON from driver 565 on), start the container with "
         "--cap-add=SYS_ADMIN, or have the host's administrator load the driver with "
         "NVreg_RestrictProfilingToAdminUsers=0; being root in a container is not enough";
}

std::optional<bool> counters_are_restricted(const std::string& params) {
  std::ifstream file(params);
  for (std::string line; std::getline(file, line);)
    if (constexpr std::string_view key = "RmProfilingAdminOnly:"; line.starts_with(key))
      return line.find('1', key.size()) != std::string::npos;
  return std::nullopt;
}

std::string explain_counter_error(CUptiResult result, std::string_view call) {
  return fmt::format("{} [{}: CUPTI error {}]", cause(result), call, static_cast<int>(result));
}

}  // namespace attnprof
