#include "trace/launch_group.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"
#include "measure/summarised_latency.hpp"
#include "roofline/row_roofline.hpp"
#include "row/schema.hpp"
#include "schedule/occupancy.hpp"
#include "trace/kernel_name.hpp"

namespace attnprof {
namespace {

Real value_of(const LaunchCounts& counts, Quantity quantity) {
  const auto found = counts.find(count_name(quantity));
  return found == counts.end() ? Real{} : Real{found->second};
}

Count rounded(const Real& value) {
  return value ? Count{static_cast<int64_t>(std::llround(*value))} : Count{};
}

Real sum(const Real& a, const Real& b) { return a && b ? Real{*a + *b} : Real{}; }

// MHz: cycles of the counted range over its ns.
Real clock_of(const LaunchCounts& counts) {
  const Real cycles = value_of(counts, Quantity::cycles), ns = value_of(counts, Quantity::duration);
  return cycles && ns && *ns > 0 ? Real{1e3 * *cycles / *ns} : Real{};
}

// The range has the profiler's own time in it; a kernel's is that of the SM that was busiest. Kernels of a
// graph may leave every SM idle between them, so a graph has the range's.
Real time_of(const LaunchCounts& counts, bool graph) {
  if (graph) return value_of(counts, Quantity::duration);
  const Real cycles = value_of(counts, Quantity::active_cycles), mhz = clock_of(counts);
  return cycles && *cycles > 0 && mhz.value_or(0) > 0 ? Real{1e3 * *cycles / *mhz} : Real{};
}

// The operand type whose tensor products the launches execute.
std::optional<Dtype> tensor_dtype(const LaunchCounts& counts) {
  std::optional<Dtype> found;
  double most = 0;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8}) {
    const auto flops = counts.find(count_name(Quantity::tensor_flops, dtype));
    if (flops == counts.end() || flops->second <= most) continue;
    most = flops->second;
    found = dtype;
  }
  return found;
}

// 0 only where the tensor pipe is known to have done nothing; empty where no counter saw what it did.
Count tensor_flops(const LaunchCounts& counts) {
  if (const auto dtype = tensor_dtype(counts))
    return rounded(counts.find(count_name(Quantity::tensor_flops, dtype))->second);
  const Real pipe = value_of(counts, Quantity::tensor_pipe);
  return pipe && *pipe == 0 ? Count{0} : Count{};
}

std::string times(const std::array<int64_t, 3>& sizes) {
  return fmt::format("{}x{}x{}", sizes[0], sizes[1], sizes[2]);
}

std::string configuration_of(const LaunchRecord& launch) {
  std::vector<std::string> parts;
  if (launch.graph_kernels == 0) {
    parts = {"grid=" + times(launch.shape.grid), "block=" + times(launch.shape.block)};
    if (launch.shape.cluster[0] > 0) parts.push_back("cluster=" + times(launch.shape.cluster));
    parts.push_back(fmt::format("smem={}", launch.shape.dynamic_smem));
  }
  std::string range = launch.range;
  std::ranges::replace(range, ';', ',');
  if (!range.empty()) parts.push_back("range=" + range);
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ";") + part;
  return text.empty() ? "-" : text;
}

// What is not known is "-" or 0; a field that older files lack has what that means.
ProblemCells unknown_problem() {
  ProblemCells cells;
  const auto fields = problem_fields();
  for (size_t i = 0; i < fields.size(); ++i)
    cells.set_text(
        i, fields[i].first_schema ? (fields[i].is_count() ? "0" : "-") : cells.absent_text(fields[i]));
  return cells;
}

Identity identity_of(const LaunchRecord& launch, const LaunchCounts& counts) {
  Identity identity{.variant = variant_of(launch),
                    .problem = unknown_problem(),
                    .tile = "-",
                    .knobs = configuration_of(launch),
                    .cache = "as_found"};
  if (const auto dtype = tensor_dtype(counts)) identity.word("dtype") = to_string(*dtype);
  return identity;
}

Counters counters_of(const LaunchCounts& counts) {
  const auto value = [&](Quantity quantity) { return value_of(counts, quantity); };
  Counters row;
  row.bytes_source = "cupti_launch";
  row.hbm_read = rounded(value(Quantity::hbm_read));
  row.hbm_write_in_kernel = rounded(value(Quantity::hbm_write));
  row.hbm_total = rounded(sum(value(Quantity::hbm_read), value(Quantity::hbm_write)));
  row.l2_read = rounded(value(Quantity::l2_read));
  row.l2_write = rounded(value(Quantity::l2_write));
  row.l2_atomic = rounded(sum(value(Quantity::l2_atomic), value(Quantity::l2_reduction)));
  row.sm_read = rounded(value(Quantity::sm_read));
  row.sm_write = rounded(value(Quantity::sm_write));
  row.sm_total = rounded(sum(value(Quantity::sm_read), value(Quantity::sm_write)));
  row.local = rounded(sum(value(Quantity::local_load), value(Quantity::local_store)));
  row.executed_tensor_flops = tensor_flops(counts);
  row.achieved_occupancy_pct = value(Quantity::occupancy);
  row.tensor_pipe_pct = value(Quantity::tensor_pipe);
  row.sm_cycles = rounded(value(Quantity::cycles));
  return row;
}

int64_t product(const std::array<int64_t, 3>& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

Build build_of(const LaunchRecord& launch, const DeviceProfile& device) {
  Build build;
  build.launches = std::max<int64_t>(1, launch.graph_kernels);
  if (launch.graph_kernels > 0) return build;
  const LaunchShape& shape = launch.shape;
  build.ctas = product(shape.grid);
  build.threads_per_cta = product(shape.block);
  build.registers = shape.registers;
  build.spill_bytes = shape.local;
  build.smem_bytes = shape.static_smem + shape.dynamic_smem;
  const int resident = resident_ctas_per_sm({.threads = static_cast<int>(*build.threads_per_cta),
                                             .registers = static_cast<int>(shape.registers),
                                             .smem_bytes = *build.smem_bytes},
                                            device);
  if (resident <= 0 || device.sms <= 0) return build;
  build.theoretical_occupancy_pct =
      100.0 * resident * static_cast<double>(*build.threads_per_cta) / device.max_threads_per_sm;
  build.waves = static_cast<double>(*build.ctas) / resident / device.sms;
  return build;
}

std::vector<double> times_of(const LaunchGroup& group) {
  std::vector<double> ns;
  for (const GroupedLaunch& launch : group.launches)
    if (const Real time = time_of(launch.record.counts, launch.record.graph_kernels > 0)) ns.push_back(*time);
  return ns;
}

// What a row of one launch and one of all have in common.
Row row_of(const LaunchRecord& launch, const LaunchCounts& counts, const std::vector<double>& ns,
           const DeviceProfile& device) {
  constexpr double drifting_pct = 3;
  Row row;
  row.identity = identity_of(launch, counts);
  row.resolved.knobs_used = row.identity.knobs;
  row.status.disposition = "ok";
  row.verify.verified = "unchecked";
  if (!ns.empty()) row.latency = summarised_latency(summarise(ns), "counters");
  row.latency.sm_clock_mhz = clock_of(counts);
  row.counters = counters_of(counts);
  row.build = build_of(launch, device);
  if (launch.graph_kernels > 0) add_flag(row.status, Flag::graph);
  if (!row.latency.ci95_low_ns) add_flag(row.status, Flag::few_samples);
  if (std::abs(row.latency.drift_pct.value_or(0)) > drifting_pct) add_flag(row.status, Flag::drift);
  return row;
}

std::vector<double> hbm_of(const LaunchGroup& group) {
  std::vector<double> bytes;
  for (const GroupedLaunch& launch : group.launches) {
    const LaunchCounts& counts = launch.record.counts;
    if (const Real both = sum(value_of(counts, Quantity::hbm_read), value_of(counts, Quantity::hbm_write)))
      bytes.push_back(*both);
  }
  return bytes;
}

void add_hbm_spread(const std::vector<double>& bytes, Row& row) {
  constexpr double noisy_share = 0.02, noisy_bytes = 1e6;  // as for our own kernels
  if (bytes.empty()) return;
  row.counters.hbm_counts = static_cast<int64_t>(bytes.size());
  if (bytes.size() < 2 || median(bytes) <= 0) return;
  const auto [low, high] = std::ranges::minmax_element(bytes);
  row.counters.hbm_spread_pct = 100 * (*high - *low) / median(bytes);
  if (*high - *low > noisy_bytes && (*high - *low) > noisy_share * median(bytes))
    add_flag(row.status, Flag::noisy_bytes);
}

}  // namespace

bool same_work(const LaunchRecord& a, const LaunchRecord& b) {
  return a.kernel == b.kernel && a.range == b.range && a.graph_kernels == b.graph_kernels &&
         a.shape == b.shape;
}

std::string variant_of(const LaunchRecord& launch) {
  const std::string name = short_kernel_name(launch.kernel);
  return launch.graph_kernels > 0 ? fmt::format("{} in a graph of {}", name, launch.graph_kernels) : name;
}

LaunchCounts medians_of(const LaunchGroup& group) {
  std::map<std::string, std::vector<double>> values;
  for (const GroupedLaunch& launch : group.launches)
    for (const auto& [name, value] : launch.record.counts) values[name].push_back(value);
  LaunchCounts medians;
  for (const auto& [name, all] : values) medians[name] = median(all);
  return medians;
}

Row row_of_group(const LaunchGroup& group, const DeviceProfile& device) {
  Row row = row_of(group.launches.front().record, medians_of(group), times_of(group), device);
  add_hbm_spread(hbm_of(group), row);
  fill_roofline(row, device);
  return row;
}

Row row_of_launch(const GroupedLaunch& launch, const LaunchCounts& medians, bool several_processes,
                  const DeviceProfile& device) {
  const LaunchRecord& record = launch.record;
  LaunchCounts counts = record.counts;
  counts.insert(medians.begin(), medians.end());  // those it lacks
  const Real ns = time_of(record.counts, record.graph_kernels > 0);
  Row row = row_of(record, counts, ns ? std::vector{*ns} : std::vector<double>{}, device);
  if (counts.size() > record.counts.size()) add_flag(row.status, Flag::other_launches);
  std::string& knobs = row.identity.knobs;
  knobs = knobs == "-" ? "" : knobs + ";";
  if (several_processes) knobs += fmt::format("process={};", launch.process);
  knobs += fmt::format("launch={}", launch.index);
  if (row.counters.hbm_total) row.counters.hbm_counts = 1;
  fill_roofline(row, device);
  return row;
}

}  // namespace attnprof
