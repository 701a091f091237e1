#include "roofline/rates.hpp"

#include <fmt/format.h>

namespace attnprof {
namespace {

// Nominal figures of Hopper's tensor cores are wgmma's. What mma.sync reaches of them: 610 of 989 TFLOP/s on
// an H200 (results/h200/selftest.csv).
constexpr double mma_share_of_wgmma = 0.617;
// An operation of one empty launch, as two events time it, in launches: 4.5 us where a launch takes 2
// (fitted to the H200's rows, as the model of time is).
constexpr double floor_in_launches = 2.25;

class Source {
 public:
  Source(const DeviceProfile& device, const Ceilings& ceilings, std::optional<double> clock)
      : device_(device), ceilings_(ceilings), clock_(clock) {}

  // The ceiling `name`; else `factor` times the device's nominal `figure`; `how`: what to say of the factor.
  Rate rate(const std::string& name, const char* figure, double DeviceProfile::*nominal, double factor = 1,
            const char* how = "") {
    if (const auto ceiling = ceiling_at(ceilings_, name, clock_)) {
      measured_ = true;
      return {*ceiling, "ceiling " + name};
    }
    const double value = device_.*nominal * factor * scale(name);
    if (value <= 0) return {};
    return {value, fmt::format("nominal {}{}", figure, how)};
  }
  bool measured() const { return measured_; }

 private:
  // Nominal rates are those of the boost clock.
  double scale(const std::string& name) const {
    const CeilingKind* kind = find_ceiling_kind(name);
    const bool with_clock = kind && kind->with_sm_clock && clock_ && device_.sm_clock_mhz > 0;
    return with_clock ? *clock_ / device_.sm_clock_mhz : 1;
  }

  const DeviceProfile& device_;
  const Ceilings& ceilings_;
  std::optional<double> clock_;
  bool measured_ = false;
};

}  // namespace

Rates rates_at(const DeviceProfile& device, const Ceilings& ceilings, Dtype dtype,
               std::optional<double> sm_clock_mhz) {
  Source source(device, ceilings, sm_clock_mhz);
  const bool fp8 = dtype == Dtype::fp8;
  const std::string type(dtype == Dtype::fp32 ? "fp16" : to_string(dtype));
  const auto tensor = fp8 ? &DeviceProfile::tensor_fp8_tflops : &DeviceProfile::tensor_16bit_tflops;
  const char* figure = fp8 ? "tensor_fp8_tflops" : "tensor_16bit_tflops";
  const bool has_wgmma = device.arch.starts_with("sm_90");
  Rates rates;
  rates.hbm_read = source.rate("hbm_read_gbps", "hbm_gbps", &DeviceProfile::hbm_gbps);
  rates.hbm_write = source.rate("hbm_write_gbps", "hbm_gbps", &DeviceProfile::hbm_gbps);
  rates.l2 = source.rate("l2_read_gbps", "l2_gbps", &DeviceProfile::l2_gbps);
  rates.smem = source.rate("smem_read_gbps", "smem_gbps", &DeviceProfile::smem_gbps);
  rates.fma = source.rate("fma_tflops", "fp32_tflops", &DeviceProfile::fp32_tflops);
  rates.mma = source.rate("mma_" + type + "_tflops", figure, tensor, has_wgmma ? mma_share_of_wgmma : 1,
                          has_wgmma ? " x 0.617, as measured of mma.sync on an H200" : "");
  rates.wgmma = has_wgmma ? source.rate("wgmma_" + type + "_tflops", figure, tensor) : rates.mma;
  rates.exp = source.rate("exp_gops", "exp_gops", &DeviceProfile::exp_gops);
  rates.launch_ns = source.rate("launch_ns", "launch_us", &DeviceProfile::launch_us, 1e3);
  rates.floor_ns = source.rate("event_floor_ns", "launch_us", &DeviceProfile::launch_us,
                               1e3 * floor_in_launches, " x 2.25");
  rates.measured = source.measured();
  return rates;
}

}  // namespace attnprof
