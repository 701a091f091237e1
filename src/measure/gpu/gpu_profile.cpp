#include "measure/gpu/gpu_profile.hpp"

#include <fmt/format.h>

#include <optional>

#include "device/device_profiles.hpp"

namespace attnprof {
namespace {

// What follows from the driver's figures, for a GPU nobody has calibrated: fp32 lanes and memory are known,
// tensor and L2 rates are not (0: columns that need them stay empty).
DeviceProfile from_clocks(const GpuFacts& facts) {
  DeviceProfile device;
  device.title = facts.name;
  device.sm_clock_mhz = facts.sm_clock_mhz;
  device.hbm_gbps = 2 * facts.memory_clock_mhz * facts.memory_bus_bits / 8 / 1e3;  // two transfers a clock
  const double gigacycles = facts.sms * facts.sm_clock_mhz / 1e3;
  device.smem_gbps = 128 * gigacycles;  // 32 banks of 4 B an SM and clock
  device.exp_gops = 16 * gigacycles;
  const bool half_as_many_lanes = facts.major < 8 || (facts.major == 8 && facts.minor == 0);
  device.fp32_tflops = 2 * (half_as_many_lanes ? 64 : 128) * gigacycles / 1e3;
  return device;
}

std::optional<DeviceProfile> builtin_of(const GpuFacts& facts) {
  auto builtin = find_profile_for_gpu(facts.name);
  if (builtin && builtin->sms != facts.sms) builtin.reset();
  return builtin;
}

// Another size of L2 is another L2: nothing that was measured holds.
void set_l2(DeviceProfile& device, int64_t l2_bytes) {
  if (l2_bytes == device.l2_bytes) return;
  device.l2_bytes = l2_bytes;
  device.l2_curve.clear();
  device.l2_shared_room = 1;
  device.l2_dirty_bytes = assumed_dirty_bytes(l2_bytes);
}

}  // namespace

std::string arch_of(int major, int minor) {
  const bool specific = major >= 9;  // sm_90a, sm_100a, sm_120a; earlier parts have no such target
  return fmt::format("sm_{}{}{}", major, minor, specific ? "a" : "");
}

GpuProfile profile_of_gpu(const GpuFacts& facts) {
  const auto builtin = builtin_of(facts);
  DeviceProfile device = builtin ? *builtin : from_clocks(facts);
  device.name = facts.name;
  device.arch = arch_of(facts.major, facts.minor);
  device.sms = facts.sms;
  device.smem_per_sm_bytes = facts.smem_per_sm_bytes;
  device.smem_per_block_bytes = facts.smem_per_block_bytes;
  device.registers_per_sm = facts.registers_per_sm;
  device.max_threads_per_sm = facts.max_threads_per_sm;
  device.max_ctas_per_sm = facts.max_ctas_per_sm;
  device.hbm_bytes = facts.memory_bytes;
  set_l2(device, facts.l2_bytes);
  return {std::move(device), builtin.has_value()};
}

}  // namespace attnprof
