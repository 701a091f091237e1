// What a device does at most, measured by kernels that do nothing else (`attnprof ceilings`): data only.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "device/device_profile.hpp"

namespace attnprof {

// A ceiling's unit is the end of its name: _gbps (1e9 bytes a second), _tflops, _gops (1e9 a second), _ns.
struct CeilingKind {
  std::string_view name;
  std::string_view what;
  double DeviceProfile::*nominal;  // the figure it stands beside; null: there is none
  bool with_sm_clock;              // its rate is proportional to the SMs' clock
};

// Every ceiling there is, in the order tables show them.
inline constexpr auto ceiling_kinds = std::to_array<CeilingKind>({
    {"hbm_read_gbps", "HBM, reads of far more than L2 holds", &DeviceProfile::hbm_gbps, false},
    {"hbm_write_gbps", "HBM, writes of far more than L2 holds", &DeviceProfile::hbm_gbps, false},
    {"hbm_copy_gbps", "HBM, a copy, reads and writes added", &DeviceProfile::hbm_gbps, false},
    {"l2_read_gbps", "L2, reads of a quarter of it by all SMs, as they arrive there", &DeviceProfile::l2_gbps,
     true},
    {"smem_read_gbps", "shared memory, reads without bank conflicts", &DeviceProfile::smem_gbps, true},
    {"mma_fp16_tflops", "mma.sync, fp16, fp32 accumulators", &DeviceProfile::tensor_16bit_tflops, true},
    {"mma_bf16_tflops", "mma.sync, bf16, fp32 accumulators", &DeviceProfile::tensor_16bit_tflops, true},
    {"mma_fp8_tflops", "mma.sync, e4m3, fp32 accumulators", &DeviceProfile::tensor_fp8_tflops, true},
    {"wgmma_fp16_tflops", "wgmma, fp16, fp32 accumulators", &DeviceProfile::tensor_16bit_tflops, true},
    {"wgmma_bf16_tflops", "wgmma, bf16, fp32 accumulators", &DeviceProfile::tensor_16bit_tflops, true},
    {"wgmma_fp8_tflops", "wgmma, e4m3, fp32 accumulators", &DeviceProfile::tensor_fp8_tflops, true},
    {"fma_tflops", "fp32 FMA, counted as 2 FLOPs", &DeviceProfile::fp32_tflops, true},
    {"exp_gops", "exponentials (ex2.approx.ftz.f32)", &DeviceProfile::exp_gops, true},
    {"launch_ns", "an empty kernel, launched after another", nullptr, false},
    {"event_floor_ns", "two events around an empty kernel", nullptr, false},
});

// By name; null if there is none.
const CeilingKind* find_ceiling_kind(std::string_view name);

struct Ceiling {
  double median = 0;
  double spread_pct = 0;  // 90th less 10th percentile, in % of the median
  int samples = 0;
  std::optional<double> sm_clock_mhz = {};  // median while it was measured
  std::optional<double> nominal = {};       // of the device's profile; nothing where that is not known
};

// By name (ceiling_kinds). Not all need be there: a device without wgmma has none of it.
using Ceilings = std::map<std::string, Ceiling, std::less<>>;

// The ceiling's value at `sm_clock_mhz`: scaled where it goes with the SMs' clock and both clocks are known.
// Nothing where it was not measured.
std::optional<double> ceiling_at(const Ceilings& ceilings, std::string_view name,
                                 std::optional<double> sm_clock_mhz);

// As .meta.json and the cache keep them: an object a ceiling, under its name. Throws nlohmann's exceptions
// for anything else, a value, a clock or a nominal rate that is not above 0 included; names it does not know
// are kept.
nlohmann::ordered_json ceilings_json(const Ceilings& ceilings);
Ceilings parse_ceilings(const nlohmann::ordered_json& json);

}  // namespace attnprof
