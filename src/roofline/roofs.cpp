#include "roofline/roofs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "device/device_profiles.hpp"
#include "device/rates.hpp"

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

bool wanted(const KnownRoof& roof, Dtype dtype) {
  return roof.name != (dtype == Dtype::fp8 ? "tensor" : "tensor_fp8");
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

std::vector<Roof> roofs_of(const RunDevice& device, Dtype dtype) {
  std::vector<Roof> roofs;
  for (const KnownRoof& known : known_roofs) {
    const double value = device.profile.*known.rate;
    if (!wanted(known, dtype) || value <= 0) continue;
    const bool measured = device.measured.contains(known.figure);
    const bool of_dtype = measured && known.name == "tensor";
    roofs.push_back(
        {.device = device.profile.name,
         .name = std::string(known.name),
         .level = std::string(known.level),
         .kind = known.kind,
         .value = value,
         .source = measured                                 ? "ceiling"
                   : device.recorded.contains(known.figure) ? "run"
                                                            : "profile",
         .dtype = of_dtype ? std::string(to_string(dtype == Dtype::fp32 ? Dtype::fp16 : dtype)) : ""});
  }
  return roofs;
}

std::string missing_roofs(const RunDevice& device, Dtype dtype) {
  std::vector<std::string_view> missing;
  for (const KnownRoof& known : known_roofs)
    if (wanted(known, dtype) && device.profile.*known.rate <= 0) missing.push_back(known.name);
  if (missing.empty()) return "";
  return fmt::format(
      "no roof {} for '{}': neither its run's .meta.json nor a built-in profile has the figure",
      fmt::join(missing, ", "), device.profile.name);
}

}  // namespace attnprof
