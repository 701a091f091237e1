#include "roofline/place.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/problem.hpp"
#include "roofline/schema.hpp"

namespace attnprof {
namespace {

// A rate may exceed its ceiling by this much before the row is flagged: boost clocks and counter noise.
constexpr double ceiling_slack = 1.02;
// Below this share of the measured time no resource can be what a case waits for.
constexpr double bound_share = 0.25;

Real ratio(const Count& above, const Count& below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

Count sum(const Count& a, const Count& b) { return a && b ? Count{*a + *b} : Count{}; }

// What rates and intensities count: of a traced kernel it is not known how much of its work was useful.
Count rated_flops(const Row& row) {
  return row.model.useful_flops ? row.model.useful_flops : row.counters.executed_tensor_flops;
}

// FLOPs the products' unit executes; what is masked or padded counts where it is known.
double product_flops(const Row& row) {
  const Count& executed =
      row.counters.executed_tensor_flops ? row.counters.executed_tensor_flops : row.model.tensor_flops;
  if (executed && *executed > 0) return static_cast<double>(*executed);
  return static_cast<double>(row.model.useful_flops.value_or(0));
}

// One exponential an unmasked (query, key) pair.
double exponentials(const Row& row) {
  if (!row.model.useful_flops || row.identity.head_dim.value_or(0) == 0) return 0;
  return static_cast<double>(*row.model.useful_flops) / (4.0 * static_cast<double>(*row.identity.head_dim));
}

// What L2 served where counted, else what the SMs moved.
Count l2_bytes(const Row& row) {
  const Count served = sum(row.counters.l2_read, row.counters.l2_write);
  return served ? served : row.counters.sm_total;
}

double as_double(const Count& count) { return static_cast<double>(count.value_or(0)); }

// What a device's profile leaves at 0 is not known, and no rate is held against it.
bool above(double rate, double ceiling) { return ceiling > 0 && rate > ceiling_slack * ceiling; }

// Empty where bytes were not counted or a rate is not known: what is left out might be what takes longest.
std::string bound_of(const Row& row, const DeviceProfile& device) {
  const double peak = peak_tflops(row, device);
  if (!row.counters.hbm_total || !l2_bytes(row)) return "";
  if (std::min({device.hbm_gbps, device.l2_gbps, device.exp_gops, peak}) <= 0) return "";
  const std::array<std::pair<double, const char*>, 4> resources = {{
      {as_double(row.counters.hbm_total) / device.hbm_gbps, "hbm"},
      {as_double(l2_bytes(row)) / device.l2_gbps, "l2"},
      {product_flops(row) / (peak * 1e3), uses_tensor_cores(row) ? "tensor" : "fma"},
      {exponentials(row) / device.exp_gops, "exp"},
  }};
  const auto& [ns, name] = *std::ranges::max_element(resources);
  return ns < bound_share * *row.latency.median_ns ? "latency" : name;
}

void flag_above_ceiling(Row& row, const DeviceProfile& device) {
  // Only what crossed the bus within the timed run can be held against its rate.
  const Count in_kernel = sum(row.counters.hbm_read, row.counters.hbm_write_in_kernel);
  const double gbps = as_double(in_kernel ? in_kernel : row.counters.hbm_total) / *row.latency.median_ns;
  if (above(gbps, device.hbm_gbps) || above(*row.roofline.useful_tflops_per_s, peak_tflops(row, device)))
    add_flag(row.status, Flag::above_ceiling);
}

}  // namespace

bool uses_tensor_cores(const Row& row) {
  const Count& flops =
      row.counters.executed_tensor_flops ? row.counters.executed_tensor_flops : row.model.tensor_flops;
  return flops ? *flops > 0 : row.identity.dtype != to_string(Dtype::fp32);
}

double peak_tflops(const Row& row, const DeviceProfile& device) {
  if (!uses_tensor_cores(row)) return device.fp32_tflops;
  return tensor_tflops(device, parse_dtype(row.identity.dtype).value_or(Dtype::fp16));
}

Real roof_tflops(const Real& intensity, double peak_tflops, double gbps) {
  if (!intensity || peak_tflops <= 0 || gbps <= 0) return std::nullopt;
  return std::min(peak_tflops, *intensity * gbps / 1e3);
}

void place_under_roofline(Row& row, const DeviceProfile& device) {
  Roofline& roofline = row.roofline;
  const Counters& counters = row.counters;
  if (row.model.hbm_bytes && device.l2_curve.empty()) add_flag(row.status, Flag::uncalibrated);
  const Count flops = rated_flops(row);
  roofline.hbm_intensity = ratio(flops, counters.hbm_total);
  roofline.l2_intensity = ratio(flops, sum(counters.l2_read, counters.l2_write));
  roofline.sm_intensity = ratio(flops, counters.sm_total);
  const double peak = peak_tflops(row, device);
  roofline.roof_tflops_per_s = roof_tflops(roofline.hbm_intensity, peak, device.hbm_gbps);
  if (!flops || row.latency.median_ns.value_or(0) <= 0) return;
  const double rate = static_cast<double>(*flops) / *row.latency.median_ns / 1e3;
  roofline.useful_tflops_per_s = rate;
  if (peak > 0) roofline.mfu_pct = 100 * rate / peak;
  if (roofline.roof_tflops_per_s.value_or(0) > 0)
    roofline.roof_pct = 100 * rate / *roofline.roof_tflops_per_s;
  roofline.bound = bound_of(row, device);
  flag_above_ceiling(row, device);
}

}  // namespace attnprof
