#include "measure/gpu/counted_row.hpp"

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"
#include "row/schema.hpp"

namespace attnprof {
namespace {

constexpr double noisy_share = 0.02;
constexpr double noisy_bytes = 1e6;  // below it, a few lines of other traffic are a large share

Count rounded(std::optional<double> value) {
  return value ? Count{static_cast<int64_t>(std::llround(*value))} : Count{};
}

Count sum(const Count& a, const Count& b) { return a && b ? Count{*a + *b} : Count{}; }

std::optional<double> sum(std::optional<double> a, std::optional<double> b) {
  return a && b ? std::optional{*a + *b} : std::nullopt;
}

template <class Value>
Count median_of(const std::vector<OperationCount>& counts, Value value) {
  std::vector<double> values;
  for (const OperationCount& count : counts)
    if (const std::optional<double> one = value(count)) values.push_back(*one);
  return values.empty() ? Count{} : rounded(median(values));
}

void add_hbm(const std::vector<OperationCount>& counts, Counters& row, Status& status) {
  row.hbm_read = median_of(counts, [](const OperationCount& c) { return c.operation[Quantity::hbm_read]; });
  row.hbm_write_in_kernel =
      median_of(counts, [](const OperationCount& c) { return c.operation[Quantity::hbm_write]; });
  row.hbm_write = median_of(counts, settled_write);
  row.hbm_total = sum(row.hbm_read, row.hbm_write);
  if (!row.hbm_total) return;
  row.hbm_counts = static_cast<int64_t>(counts.size());
  const std::optional<double> spread = hbm_spread(counts);
  if (!spread) return;
  row.hbm_spread_pct = 100 * *spread;
  if (*spread > noisy_share && *spread * static_cast<double>(*row.hbm_total) > noisy_bytes)
    add_flag(status, Flag::noisy_bytes);
}

}  // namespace

std::optional<double> settled_write(const OperationCount& count) {
  const std::optional<double> in_range = count.operation[Quantity::hbm_write];
  const std::optional<double> after = count.eviction[Quantity::hbm_write];
  if (!in_range || !after) return std::nullopt;
  const double left = std::max(0.0, *after - count.settling.clean_eviction_write);
  return count.settling.dirty_before ? std::max(*in_range, left) : *in_range + left;
}

std::optional<double> hbm_bytes(const OperationCount& count) {
  return sum(count.operation[Quantity::hbm_read], settled_write(count));
}

std::optional<double> hbm_spread(const std::vector<OperationCount>& counts) {
  std::vector<double> totals;
  for (const OperationCount& count : counts)
    if (const std::optional<double> total = hbm_bytes(count)) totals.push_back(*total);
  if (totals.size() < 2 || median(totals) <= 0) return std::nullopt;
  const auto [low, high] = std::minmax_element(totals.begin(), totals.end());
  return (*high - *low) / median(totals);
}

Counters counted_row(const std::vector<OperationCount>& counts, Status& status) {
  Counters row;
  row.bytes_source = "cupti";
  add_hbm(counts, row, status);
  const CounterValues& first = counts.front().operation;
  row.l2_read = rounded(first[Quantity::l2_read]);
  row.l2_write = rounded(first[Quantity::l2_write]);
  row.l2_atomic = rounded(sum(first[Quantity::l2_atomic], first[Quantity::l2_reduction]));
  row.sm_read = rounded(first[Quantity::sm_read]);
  row.sm_write = rounded(first[Quantity::sm_write]);
  row.sm_total = sum(row.sm_read, row.sm_write);
  row.local = rounded(sum(first[Quantity::local_load], first[Quantity::local_store]));
  row.executed_tensor_flops = rounded(first[Quantity::tensor_flops]);
  row.achieved_occupancy_pct = first[Quantity::occupancy];
  row.tensor_pipe_pct = first[Quantity::tensor_pipe];
  row.sm_cycles = rounded(first[Quantity::cycles]);
  return row;
}

}  // namespace attnprof
