#include "roofline/row_roofline.hpp"

#include <algorithm>

#include "problem/problem.hpp"
#include "roofline/resources.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

// A rate may exceed its ceiling by this much before the row is flagged: boost clocks and counter noise.
constexpr double ceiling_slack = 1.02;

Real ratio(const Count& above, const Count& below) {
  if (!above || !below || *below == 0) return std::nullopt;
  return static_cast<double>(*above) / static_cast<double>(*below);
}

Count sum(const Count& a, const Count& b) { return a && b ? Count{*a + *b} : Count{}; }

// What rates and intensities count: of a traced kernel it is not known how much of its work was useful.
Count rated_flops(const Row& row) {
  return row.model.useful_flops ? row.model.useful_flops : row.counters.executed_tensor_flops;
}

// What a device's profile leaves at 0 is not known, and no rate is held against it.
bool above(double rate, double ceiling) { return ceiling > 0 && rate > ceiling_slack * ceiling; }

// Tensor cores by their own peak whatever drives them: ProductUnit::library, as Unseen has it.
std::string bound_of(const Row& row, const DeviceProfile& device) {
  const Rates rates = rates_at(device, {}, dtype_of(row), std::nullopt);
  return binding_resource(resource_times(row, rates, {.launches = false}), *row.latency.median_ns);
}

void flag_above_ceiling(Row& row, const DeviceProfile& device) {
  // Only what crossed the bus within the timed run can be held against its rate.
  const Count in_kernel = sum(row.counters.hbm_read, row.counters.hbm_write_in_kernel);
  const double gbps = as_double(in_kernel ? in_kernel : row.counters.hbm_total) / *row.latency.median_ns;
  if (above(gbps, device.hbm_gbps) || above(*row.roofline.useful_tflops_per_s, peak_tflops(row, device)))
    add_flag(row.status, Flag::above_ceiling);
}

}  // namespace

double peak_tflops(const Row& row, const DeviceProfile& device) {
  if (!uses_tensor_cores(row)) return device.fp32_tflops;
  return tensor_tflops(device, dtype_of(row));
}

Real roof_tflops(const Real& intensity, double peak_tflops, double gbps) {
  if (!intensity || peak_tflops <= 0 || gbps <= 0) return std::nullopt;
  return std::min(peak_tflops, *intensity * gbps / 1e3);
}

void fill_roofline(Row& row, const DeviceProfile& device, const Ceilings& ceilings) {
  const DeviceProfile reached = at_ceilings(device, ceilings, dtype_of(row));
  Roofline& roofline = row.roofline;
  const Counters& counters = row.counters;
  if (row.model.hbm_bytes && device.l2_curve.empty()) add_flag(row.status, Flag::uncalibrated);
  const Count flops = rated_flops(row);
  roofline.hbm_intensity = ratio(flops, counters.hbm_total);
  roofline.l2_intensity = ratio(flops, sum(counters.l2_read, counters.l2_write));
  roofline.sm_intensity = ratio(flops, counters.sm_total);
  roofline.roof_tflops_per_s =
      roof_tflops(roofline.hbm_intensity, peak_tflops(row, reached), reached.hbm_gbps);
  if (!flops || row.latency.median_ns.value_or(0) <= 0) return;
  const double rate = static_cast<double>(*flops) / *row.latency.median_ns / 1e3;
  roofline.useful_tflops_per_s = rate;
  if (const double peak = peak_tflops(row, device); peak > 0) roofline.mfu_pct = 100 * rate / peak;
  if (roofline.roof_tflops_per_s.value_or(0) > 0)
    roofline.roof_pct = 100 * rate / *roofline.roof_tflops_per_s;
  roofline.bound = bound_of(row, reached);
  flag_above_ceiling(row, reached);
}

}  // namespace attnprof
