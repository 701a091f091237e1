// The bandwidths of a device's memory: of a level (roofline/levels.hpp), the half that no row is needed for.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "device/ceilings.hpp"
#include "device/device_profile.hpp"
#include "device/rates.hpp"

namespace attnprof {

struct Bandwidth {
  std::string_view name;           // of its roof, of its resource and as a bound
  std::string_view title;          // in pictures
  double DeviceProfile::*nominal;  // GB/s, one of peak_figures
  // Of ceiling_kinds, GB/s; twice the same where one stands for reads and writes.
  std::string_view read_ceiling, write_ceiling;
  Rate Rates::*read;  // GB/s: the ceiling, else the nominal rate
  Rate Rates::*write;
};

// Every bandwidth that rows are held against, in the order of roofs and resources.
inline constexpr auto bandwidths = std::to_array<Bandwidth>({
    {"hbm", "HBM", &DeviceProfile::hbm_gbps, "hbm_read_gbps", "hbm_write_gbps", &Rates::hbm_read,
     &Rates::hbm_write},
    {"l2", "L2", &DeviceProfile::l2_gbps, "l2_read_gbps", "l2_read_gbps", &Rates::l2, &Rates::l2},
});

// By name; null if there is none.
constexpr const Bandwidth* find_bandwidth(std::string_view name) {
  const auto* found = std::ranges::find(bandwidths, name, &Bandwidth::name);
  return found == bandwidths.end() ? nullptr : found;
}

// A figure without a name is in no run's .meta.json, and a ceiling beside another figure is no bandwidth's.
constexpr bool stands_beside(std::string_view ceiling, double DeviceProfile::*nominal) {
  return std::ranges::any_of(ceiling_kinds, [&](const CeilingKind& kind) {
    return kind.name == ceiling && kind.nominal == nominal;
  });
}
static_assert(std::ranges::all_of(bandwidths, [](const Bandwidth& each) {
  return !figure_name(each.nominal).empty() && stands_beside(each.read_ceiling, each.nominal) &&
         stands_beside(each.write_ceiling, each.nominal);
}));

}  // namespace attnprof
