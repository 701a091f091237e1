#include "tune/compiled.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "schedule/compiled_part.hpp"
#include "schedule/occupancy.hpp"

namespace attnprof {
namespace {

std::optional<std::string> reason_of(const KernelLaunch& launch, const CompiledKernel& kernel,
                                     const DeviceProfile& device, bool keep_spills) {
  const int64_t smem = kernel.static_smem_bytes + kernel.dynamic_smem_bytes;
  if (smem > device.smem_per_block_bytes)
    return fmt::format("{} needs {} bytes of shared memory a block, {} allows {}", launch.entry, smem,
                       device.name, device.smem_per_block_bytes);
  if (resident_ctas_per_sm({launch.threads, kernel.registers, smem}, device) == 0)
    return fmt::format("{} takes {} registers for each of {} threads, more than an SM has", launch.entry,
                       kernel.registers, launch.threads);
  const int64_t spills = kernel.spill_store_bytes + kernel.spill_load_bytes;
  if (spills > 0 && !keep_spills)
    return fmt::format("{} spills {} bytes a thread at {} registers", launch.entry, spills, kernel.registers);
  return std::nullopt;
}

}  // namespace

std::optional<std::string> compiled_reason(const Case& c, const DeviceProfile& device,
                                           KernelCompiler& compiler, bool keep_spills) {
  for (const Step& step : c.steps) {
    const KernelLaunch* launch = compiled_part(step);
    if (!launch) continue;
    try {
      if (auto reason = reason_of(*launch, compiler.compile(*launch, device.arch), device, keep_spills))
        return reason;
    } catch (const CaseFailed& failed) {
      return failed.what();
    }
  }
  return std::nullopt;
}

}  // namespace attnprof
