#include "roofline/roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "device/device_profiles.hpp"
#include "device/rates.hpp"

namespace attnprof {
namespace {

struct KnownRoof {
  RoofKind kind;
  std::string_view name;
  double DeviceProfile::*rate;
  std::string_view level = {};
};

constexpr auto peaks = std::to_array<KnownRoof>({
    {RoofKind::peak, "tensor_fp8", &DeviceProfile::tensor_fp8_tflops},
    {RoofKind::peak, "tensor", &DeviceProfile::tensor_16bit_tflops},
    {RoofKind::peak, "fma", &DeviceProfile::fp32_tflops},
});

bool has_use(const KnownRoof& peak, Dtype dtype) {
  return peak.name != (dtype == Dtype::fp8 ? "tensor" : "tensor_fp8");
}

// What a device's roofs are, known or not. One bandwidth is a roof once a level that is held against it.
std::vector<KnownRoof> wanted_roofs(Dtype dtype, std::span<const Level> levels) {
  std::vector<KnownRoof> roofs;
  for (const Level& level : levels_with_rate(levels))
    roofs.push_back({RoofKind::bandwidth, level.bandwidth->name, level.bandwidth->nominal, level.name});
  for (const KnownRoof& peak : peaks)
    if (has_use(peak, dtype)) roofs.push_back(peak);
  return roofs;
}

DeviceProfile built_in(const std::string& name) {
  if (const DeviceProfile* target = find_profile(name)) return *target;
  if (const auto gpu = find_profile_for_gpu(name)) return *gpu;
  DeviceProfile unknown;
  unknown.name = name;
  return unknown;
}

}  // namespace

RunDevice device_of_run(const std::string& name, const Peaks& recorded) {
  RunDevice device{.profile = built_in(name), .recorded = {}};
  for (const PeakFigure& figure : peak_figures) {
    const auto found = recorded.find(figure.name);
    if (found == recorded.end()) continue;
    device.profile.*figure.rate = found->second;
    device.recorded.emplace(figure.name);
  }
  return device;
}

RunDevice at_ceilings(RunDevice device, const Ceilings& ceilings, Dtype dtype) {
  const DeviceProfile nominal = device.profile;
  device.profile = at_ceilings(nominal, ceilings, dtype);
  for (const PeakFigure& figure : peak_figures)
    if (device.profile.*figure.rate != nominal.*figure.rate) device.measured.emplace(figure.name);
  return device;
}

std::vector<Roof> roofs_of(const RunDevice& device, Dtype dtype, std::span<const Level> levels) {
  std::vector<Roof> roofs;
  for (const KnownRoof& known : wanted_roofs(dtype, levels)) {
    const double value = device.profile.*known.rate;
    if (value <= 0) continue;
    const std::string_view figure = figure_name(known.rate);
    const bool measured = device.measured.contains(figure);
    const bool of_dtype = measured && known.name == "tensor";
    roofs.push_back(
        {.device = device.profile.name,
         .name = std::string(known.name),
         .level = std::string(known.level),
         .kind = known.kind,
         .value = value,
         .source = measured                           ? "ceiling"
                   : device.recorded.contains(figure) ? "run"
                                                      : "profile",
         .dtype = of_dtype ? std::string(to_string(dtype == Dtype::fp32 ? Dtype::fp16 : dtype)) : ""});
  }
  return roofs;
}

std::string missing_roofs(const RunDevice& device, Dtype dtype, std::span<const Level> levels) {
  std::vector<std::string_view> missing;
  for (const KnownRoof& known : wanted_roofs(dtype, levels))
    if (device.profile.*known.rate <= 0) missing.push_back(known.name);
  if (missing.empty()) return "";
  return fmt::format(
      "no roof {} for '{}': neither its run's .meta.json nor a built-in profile has the figure",
      fmt::join(missing, ", "), device.profile.name);
}

}  // namespace attnprof
