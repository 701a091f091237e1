#include "measure/gpu/counted_row.hpp"

#include <algorithm>
#include <cmath>

#include "measure/statistics.hpp"
#include "roofline/schema.hpp"

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

void add_hbm(const std::vector<OperationCount>& counts, const Settling& settling, Counters& row,
             Status& status) {
  row.hbm_read = median_of(counts, [](const OperationCount& c) { return c.operation[Quantity::hbm_read]; });
  row.hbm_write_in_kernel =
      median_of(counts, [](const OperationCount& c) { return c.operation[Quantity::hbm_write]; });
  row.hbm_write = median_of(counts, [&](const OperationCount& c) { return settled_write(c, settling); });
  row.hbm_total = sum(row.hbm_read, row.hbm_write);
  if (counts.size() < 2 || !row.hbm_total || *row.hbm_total == 0) return;
  std::vector<double> totals;
  for (const OperationCount& c : counts)
    totals.push_back(*c.operation[Quantity::hbm_read] + *settled_write(c, settling));
  const auto [low, high] = std::minmax_element(totals.begin(), totals.end());
  const double spread = *high - *low;
  row.hbm_spread_pct = 100 * spread / median(totals);
  if (spread > noisy_bytes && spread > noisy_share * median(totals)) add_flag(status, Flag::noisy_bytes);
}

}  // namespace

std::optional<double> settled_write(const OperationCount& count, const Settling& settling) {
  const std::optional<double> in_range = count.operation[Quantity::hbm_write];
  const std::optional<double> after = count.eviction[Quantity::hbm_write];
  if (!in_range || !after) return std::nullopt;
  const double left = std::max(0.0, *after - settling.clean_eviction_write);
  return settling.dirty_before ? std::max(*in_range, left) : *in_range + left;
}

Counters counted_row(const std::vector<OperationCount>& counts, const Settling& settling, Status& status) {
  Counters row;
  row.bytes_source = "cupti";
  add_hbm(counts, settling, row, status);
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
