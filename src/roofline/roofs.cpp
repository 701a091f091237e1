#include "roofline/roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "model/device_profiles.hpp"

namespace attnprof {
namespace {

struct KnownRoof {
  std::string_view name, level, figure;
  RoofKind kind;
  double DeviceProfile::*rate;
};
// The L2 bandwidth is the SM side's roof: what arrives at the SMs comes through L2.
constexpr auto known_roofs = std::to_array<KnownRoof>({
    {"hbm", "hbm", "hbm_gbps", RoofKind::bandwidth, &DeviceProfile::hbm_gbps},
    {"l2", "sm", "l2_gbps", RoofKind::bandwidth, &DeviceProfile::l2_gbps},
    {"tensor_fp8", "", "tensor_fp8_tflops", RoofKind::peak, &DeviceProfile::tensor_fp8_tflops},
    {"tensor", "", "tensor_16bit_tflops", RoofKind::peak, &DeviceProfile::tensor_16bit_tflops},
    {"fma", "", "fp32_tflops", RoofKind::peak, &DeviceProfile::fp32_tflops},
});

bool wanted(const KnownRoof& roof, bool fp8) { return fp8 || roof.name != "tensor_fp8"; }

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

RunDevice at_ceilings(RunDevice device, const Ceilings& ceilings) {
  const DeviceProfile nominal = device.profile;
  device.profile = at_ceilings(nominal, ceilings);
  for (const PeakFigure& figure : peak_figures)
    if (device.profile.*figure.rate != nominal.*figure.rate) device.measured.emplace(figure.name);
  return device;
}

std::vector<Roof> roofs_of(const RunDevice& device, bool fp8) {
  std::vector<Roof> roofs;
  for (const KnownRoof& known : known_roofs) {
    const double value = device.profile.*known.rate;
    if (wanted(known, fp8) && value > 0)
      roofs.push_back({device.profile.name, std::string(known.name), std::string(known.level), known.kind,
                       value,
                       device.measured.contains(known.figure)   ? "ceiling"
                       : device.recorded.contains(known.figure) ? "run"
                                                                : "profile"});
  }
  return roofs;
}

std::string missing_roofs(const RunDevice& device, bool fp8) {
  std::vector<std::string_view> missing;
  for (const KnownRoof& known : known_roofs)
    if (wanted(known, fp8) && device.profile.*known.rate <= 0) missing.push_back(known.name);
  if (missing.empty()) return "";
  return fmt::format(
      "no roof {} for '{}': neither its run's .meta.json nor a built-in profile has the figure",
      fmt::join(missing, ", "), device.profile.name);
}

}  // namespace attnprof
