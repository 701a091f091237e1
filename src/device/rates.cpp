#include "device/rates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "device/bandwidths.hpp"

namespace attnprof {
namespace {

// What mma.sync reaches of Hopper's nominal rates, which are wgmma's, at one clock.
// results/h200/evidence/ceilings.csv: fp16 591.0 TFLOP/s at 1698 MHz and bf16 601.8 at 1733 are 0.348 and
// 0.347 TFLOP/s a MHz, nominal are 989 / 1830 = 0.540 (DeviceProfile::tensor_clock_mhz); fp8 497.4 at 1800 is
// 0.276 of 1979 / 1830 = 1.081.
constexpr double mma_share_of_wgmma = 0.643, mma_share_of_wgmma_fp8 = 0.256;
// An operation of one empty launch, as two events time it, in launches: 4.5 us where a launch takes 2
// (fitted to the H200's rows, as the model of time is).
constexpr double floor_in_launches = 2.25;
// A ceiling under this share of a nominal rate is of other instructions than that is of (mma.sync on a
// Blackwell).
constexpr double least_share = 0.5;

using Figure = double DeviceProfile::*;  // of a device's profile

// Units whose rate is one ceiling, else one figure.
struct UnitRate {
  Rate Rates::*rate;
  std::string_view ceiling;
  Figure nominal;
};
constexpr auto unit_rates = std::to_array<UnitRate>({
    {&Rates::smem, "smem_read_gbps", &DeviceProfile::smem_gbps},
    {&Rates::fma, "fma_tflops", &DeviceProfile::fp32_tflops},
    {&Rates::exp, "exp_gops", &DeviceProfile::exp_gops},
});

Figure tensor_figure(Dtype dtype) {
  return dtype == Dtype::fp8 ? &DeviceProfile::tensor_fp8_tflops : &DeviceProfile::tensor_16bit_tflops;
}

bool is_tensor(Figure rate) {
  return rate == &DeviceProfile::tensor_16bit_tflops || rate == &DeviceProfile::tensor_fp8_tflops;
}

class Source {
 public:
  Source(const DeviceProfile& device, const Ceilings& ceilings, std::optional<double> clock)
      : device_(device), ceilings_(ceilings), clock_(clock) {}

  // Unknown where it was not measured.
  Rate ceiling(std::string_view name) const {
    const auto value = ceiling_at(ceilings_, name, clock_);
    return value ? Rate{*value, fmt::format("ceiling {}", name)} : Rate{};
  }
  // `factor` times the figure; `how`: what to say of the factor. `kind`: the ceiling it stands for.
  Rate nominal(std::string_view kind, Figure figure, double factor = 1, const std::string& how = "") const {
    const double value = device_.*figure * factor * scale(kind, figure);
    if (value <= 0) return {};
    return {value, fmt::format("nominal {}{}", figure_name(figure), how)};
  }
  Rate rate(std::string_view kind, Figure figure, double factor = 1, const std::string& how = "") const {
    const Rate measured = ceiling(kind);
    return measured.known() ? measured : nominal(kind, figure, factor, how);
  }

 private:
  // Nominal rates are those of the boost clock, but for tensor cores' where the profile says another.
  double scale(std::string_view name, Figure figure) const {
    const CeilingKind* kind = find_ceiling_kind(name);
    const bool own = is_tensor(figure) && device_.tensor_clock_mhz > 0;
    const double of = own ? device_.tensor_clock_mhz : device_.sm_clock_mhz;
    return kind && kind->with_sm_clock && clock_ && of > 0 ? *clock_ / of : 1;
  }

  const DeviceProfile& device_;
  const Ceilings& ceilings_;
  std::optional<double> clock_;
};

// Has a second, faster way to multiply, which nominal rates are of.
bool has_wgmma(const DeviceProfile& device) { return device.arch.starts_with("sm_90"); }

Rate mma_rate(const Source& source, const DeviceProfile& device, const std::string& ceiling, Dtype dtype) {
  if (!has_wgmma(device)) return source.rate(ceiling, tensor_figure(dtype));
  const double share = dtype == Dtype::fp8 ? mma_share_of_wgmma_fp8 : mma_share_of_wgmma;
  const std::string how = fmt::format(" x {}, as measured of mma.sync on an H200", share);
  return source.rate(ceiling, tensor_figure(dtype), share, how);
}

bool is_measured(const Rate& rate) { return rate.source.starts_with("ceiling"); }

bool any_is_measured(const Rates& rates) {
  const auto of_memory = [&](const Bandwidth& each) {
    return is_measured(rates.*each.read) || is_measured(rates.*each.write);
  };
  const auto of_unit = [&](const UnitRate& unit) { return is_measured(rates.*unit.rate); };
  return std::ranges::any_of(bandwidths, of_memory) || std::ranges::any_of(unit_rates, of_unit) ||
         is_measured(rates.mma) || is_measured(rates.wgmma) || is_measured(rates.launch_ns) ||
         is_measured(rates.floor_ns);
}

}  // namespace

Rate tensor_rate(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype, ProductUnit unit,
                 std::optional<double> sm_clock_mhz) {
  const Source source(device, ceilings, sm_clock_mhz);
  const std::string type(to_string(dtype == Dtype::fp32 ? Dtype::fp16 : dtype));
  const std::string mma = "mma_" + type + "_tflops", wgmma = "wgmma_" + type + "_tflops";
  if (unit == ProductUnit::mma) return mma_rate(source, device, mma, dtype);
  if (const Rate measured = source.ceiling(wgmma); measured.known()) return measured;
  const Rate nominal = source.nominal(wgmma, tensor_figure(dtype)), only = source.ceiling(mma);
  return !has_wgmma(device) && only.value > least_share * nominal.value ? only : nominal;
}

DeviceProfile at_ceilings(DeviceProfile device, const Ceilings& ceilings, Dtype dtype) {
  const double tensor = tensor_rate(device, ceilings, dtype, ProductUnit::library, std::nullopt).value;
  for (const PeakFigure& figure : peak_figures) {
    if (is_tensor(figure.rate)) continue;
    double fastest = 0;
    for (const CeilingKind& kind : ceiling_kinds)
      if (const auto found = ceilings.find(kind.name); kind.nominal == figure.rate && found != ceilings.end())
        fastest = std::max(fastest, found->second.median);
    if (fastest > least_share * device.*figure.rate) device.*figure.rate = fastest;
  }
  device.*tensor_figure(dtype) = tensor;
  return device;
}

Rates rates_at(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype,
               std::optional<double> sm_clock_mhz) {
  const Source source(device, ceilings, sm_clock_mhz);
  Rates rates;
  for (const Bandwidth& each : bandwidths) {
    rates.*each.read = source.rate(each.read_ceiling, each.nominal);
    rates.*each.write = source.rate(each.write_ceiling, each.nominal);
  }
  for (const UnitRate& unit : unit_rates) rates.*unit.rate = source.rate(unit.ceiling, unit.nominal);
  rates.mma = tensor_rate(device, ceilings, dtype, ProductUnit::mma, sm_clock_mhz);
  rates.wgmma = tensor_rate(device, ceilings, dtype, ProductUnit::wgmma, sm_clock_mhz);
  rates.launch_ns = source.rate("launch_ns", &DeviceProfile::launch_us, 1e3);
  rates.floor_ns =
      source.rate("event_floor_ns", &DeviceProfile::launch_us, 1e3 * floor_in_launches, " x 2.25");
  rates.measured = any_is_measured(rates);
  return rates;
}

}  // namespace attnprof
