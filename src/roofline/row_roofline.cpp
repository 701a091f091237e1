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
std::string bound_of(const Row& row, const DeviceProfile& device, std::span<const Level> levels) {
  const Rates rates = rates_at(device, {}, dtype_of(row), std::nullopt);
  const ResourceTable table = resource_times(row, rates, {.launches = false}, levels);
  return binding_resource(table, *row.latency.median_ns, levels);
}

// Only what crossed within the timed run can be held against the level's rate.
bool crosses_too_fast(const Row& row, const Level& level, const DeviceProfile& device) {
  if (!level.write_in_kernel) return false;
  const Counters& counters = row.counters;
  const Count in_kernel = sum(counters.*level.bytes.read.value, counters.*level.write_in_kernel.value);
  const double gbps = as_double(in_kernel ? in_kernel : level.bytes.count(row)) / *row.latency.median_ns;
  return above(gbps, device.*level.bandwidth->nominal);
}

void flag_above_ceiling(Row& row, const DeviceProfile& device, std::span<const Level> levels) {
  const auto too_fast = [&](const Level& level) { return crosses_too_fast(row, level, device); };
  if (std::ranges::any_of(levels_with_rate(levels), too_fast) ||
      above(*row.roofline.useful_tflops_per_s, peak_tflops(row, device)))
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

void fill_roofline(Row& row, const DeviceProfile& device, const Ceilings& ceilings,
                   std::span<const Level> levels) {
  const DeviceProfile reached = at_ceilings(device, ceilings, dtype_of(row));
  Roofline& roofline = row.roofline;
  if (row.model.hbm_bytes && device.l2_curve.empty()) add_flag(row.status, Flag::uncalibrated);
  const Count flops = rated_flops(row);
  for (const Level& level : levels) roofline.*level.intensity.value = ratio(flops, level.bytes.count(row));
  const Level& device_memory = levels.front();
  roofline.roof_tflops_per_s = roof_tflops(roofline.*device_memory.intensity.value, peak_tflops(row, reached),
                                           reached.*device_memory.bandwidth->nominal);
  if (!flops || row.latency.median_ns.value_or(0) <= 0) return;
  const double rate = static_cast<double>(*flops) / *row.latency.median_ns / 1e3;
  roofline.useful_tflops_per_s = rate;
  if (const double peak = peak_tflops(row, device); peak > 0) roofline.mfu_pct = 100 * rate / peak;
  if (roofline.roof_tflops_per_s.value_or(0) > 0)
    roofline.roof_pct = 100 * rate / *roofline.roof_tflops_per_s;
  roofline.bound = bound_of(row, reached, levels);
  flag_above_ceiling(row, reached, levels);
}

}  // namespace attnprof
