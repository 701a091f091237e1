#include "draw/roofline_data.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.hpp"
#include "files/run_devices.hpp"
#include "roofline/resources.hpp"
#include "roofline/row_roofline.hpp"

namespace attnprof {
namespace {

std::vector<std::string_view> needed_columns() {
  std::vector<std::string_view> names = {"run",         "backend",      "device",
                                         "disposition", "bytes_source", "latency_median_ns"};
  for (const Level& level : levels_with_rate(memory_levels()))
    if (level.everywhere) names.push_back(level.bytes.total.name);
  names.insert(names.end(), {"useful_flops", "executed_tensor_flops", "useful_tflops_per_s"});
  for (const Level& level : levels_with_rate(memory_levels()))
    if (level.everywhere) names.push_back(level.intensity.name);
  return names;
}

std::string unit_of(const Row& row) {
  if (!uses_tensor_cores(row)) return "fma";
  return row.identity.word("dtype") == "fp8" ? "tensor_fp8" : "tensor";
}

Real over(const Count& flops, const Real& below) {
  if (!flops || *flops <= 0 || below.value_or(0) <= 0) return std::nullopt;
  return static_cast<double>(*flops) / *below;
}

Real as_real(const Count& count) { return count ? Real(static_cast<double>(*count)) : Real(); }

RooflinePoint rates_of(const Row& row, size_t index, const DeviceProfile& device) {
  RooflinePoint point;
  point.row = index;
  point.level = "none";
  point.useful_tflops_per_s = *row.roofline.useful_tflops_per_s;
  point.executed_tflops_per_s = over(row.counters.executed_tensor_flops, row.latency.median_ns);
  if (point.executed_tflops_per_s) *point.executed_tflops_per_s /= 1e3;  // FLOP a ns
  if (const double peak = peak_tflops(row, device); peak > 0) {
    point.roof_tflops_per_s = peak;
    point.roof = unit_of(row);
  }
  return point;
}

const Real& intensity_of(const Row& row, const Level& level) { return row.roofline.*level.intensity.value; }

RooflinePoint at_level(RooflinePoint point, const Row& row, const Level& level, const DeviceProfile& device) {
  const double gbps = device.*level.bandwidth->nominal, peak = peak_tflops(row, device);
  point.level = level.name;
  point.intensity = intensity_of(row, level);
  point.executed_intensity = over(row.counters.executed_tensor_flops, as_real(level.bytes.count(row)));
  point.roof_tflops_per_s = roof_tflops(point.intensity, peak, gbps);
  if (!point.roof_tflops_per_s)
    point.roof.clear();
  else if (*point.roof_tflops_per_s < peak)
    point.roof = level.bandwidth->name;
  return point;
}

// A point for each level whose bytes are known; one of level none where none is.
void add_points(const Row& row, const DeviceProfile& device, RooflineData& data) {
  const RooflinePoint rates = rates_of(row, data.rows.size(), device);
  const size_t before = data.points.size();
  for (const Level& level : levels_with_rate(data.levels))
    if (intensity_of(row, level).value_or(0) > 0) data.points.push_back(at_level(rates, row, level, device));
  if (data.points.size() == before) data.points.push_back(rates);
  data.rows.push_back(row);
}

bool same(const Roof& a, const Roof& b) {
  return a.device == b.device && a.title() == b.title() && a.value == b.value;
}

// Runs that were held against other rates of one device have each their roofs.
void add_roofs(const RunDevice& device, Dtype dtype, RooflineData& data, std::vector<std::string>& notices) {
  for (const Roof& roof : roofs_of(device, dtype, data.levels))
    if (std::ranges::none_of(data.roofs, [&](const Roof& other) { return same(roof, other); }))
      data.roofs.push_back(roof);
  const std::string missing = missing_roofs(device, dtype, data.levels);
  if (!missing.empty() && std::ranges::find(notices, missing) == notices.end()) notices.push_back(missing);
}

void tell_of_rest(const RooflineData& data, std::vector<std::string>& notices) {
  if (!data.left_out.empty()) notices.push_back("not among the points: " + describe(data.left_out));
  const auto count = std::ranges::count(data.points, "none", &RooflinePoint::level);
  if (count > 0)
    notices.push_back(fmt::format(
        "{} of {} rows have no counted bytes, so no intensity: they are of level none, with their rate alone",
        count, data.rows.size()));
}

}  // namespace

std::span<const std::string_view> roofline_columns() {
  static const std::vector<std::string_view> names = needed_columns();
  return names;
}

RooflineData collect_roofline(const std::vector<ResultFile>& files, std::vector<std::string>& notices,
                              std::span<const Level> levels) {
  RooflineData data;
  data.levels = levels;
  for (const ResultFile& file : files) {
    RunDevices devices(file);
    for (const Row& row : file.rows) {
      if (!can_be_shown(row, data.left_out)) continue;
      const RunDevice& device = devices.of(row).reached;
      add_points(row, device.profile, data);
      add_roofs(device, dtype_of(row), data, notices);
    }
  }
  if (data.rows.empty())
    throw EnvironmentError(
        fmt::format("no row is ok, so there is no point: {}; attnprof sweep says why in column reason",
                    describe(data.left_out)));
  tell_of_rest(data, notices);
  return data;
}

}  // namespace attnprof
