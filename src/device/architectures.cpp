#include "device/architectures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "device/device_profiles.hpp"

namespace attnprof {
namespace {

// CUDA Programming Guide, technical specifications by compute capability.
struct Limits {
  int number, threads, blocks;  // of an SM
  int64_t smem_kib, block_smem_kib;
};
constexpr auto limits = std::to_array<Limits>({{70, 2048, 32, 96, 96},
                                               {72, 2048, 32, 96, 96},
                                               {75, 1024, 16, 64, 64},
                                               {80, 2048, 32, 164, 163},
                                               {86, 1536, 16, 100, 99},
                                               {87, 1536, 16, 164, 163},
                                               {89, 1536, 24, 100, 99},
                                               {90, 2048, 32, 228, 227},
                                               {100, 2048, 32, 228, 227},
                                               {103, 2048, 32, 228, 227},
                                               {110, 1536, 24, 228, 227},
                                               {120, 1536, 24, 100, 99},
                                               {121, 1536, 24, 100, 99}});

DeviceProfile profile_of(const Limits& of, std::string_view arch) {
  DeviceProfile device;
  device.name = device.title = device.arch = arch;
  device.smem_per_sm_bytes = of.smem_kib * 1024;
  device.smem_per_block_bytes = of.block_smem_kib * 1024;
  device.max_threads_per_sm = of.threads;
  device.max_ctas_per_sm = of.blocks;
  device.hbm_bytes = std::numeric_limits<int64_t>::max();  // nothing is known that would not fit
  return device;
}

}  // namespace

std::optional<int> architecture_number(std::string_view arch) {
  constexpr std::string_view prefix = "sm_";
  if (!arch.starts_with(prefix)) return std::nullopt;
  arch.remove_prefix(prefix.size());
  if (arch.ends_with('a') || arch.ends_with('f')) arch.remove_suffix(1);
  int number = 0;
  const auto [end, error] = std::from_chars(arch.data(), arch.data() + arch.size(), number);
  const bool whole = error == std::errc{} && end == arch.data() + arch.size() && arch.front() != '0';
  return whole && number >= 10 && number < 1000 ? std::optional(number) : std::nullopt;
}

std::optional<DeviceProfile> profile_of_architecture(std::string_view arch) {
  for (const DeviceProfile& profile : all_profiles())
    if (profile.arch == arch) return profile;
  const std::optional<int> number = architecture_number(arch);
  for (const Limits& each : limits)
    if (each.number == number) return profile_of(each, arch);
  return std::nullopt;
}

std::vector<std::string> architecture_names() {
  std::vector<std::string> names;
  for (const Limits& each : limits) {
    names.push_back(fmt::format("sm_{}", each.number));
    for (const DeviceProfile& profile : all_profiles())
      if (architecture_number(profile.arch) == each.number &&
          std::ranges::find(names, profile.arch) == names.end())
        names.push_back(profile.arch);
  }
  return names;
}

std::string known_architectures() {
  std::string names;
  for (const Limits& each : limits) names += fmt::format("{}sm_{}", names.empty() ? "" : ", ", each.number);
  return names + ", each also with an a or f at its end where nvcc has it";
}

}  // namespace attnprof
