// The hardware counters in use, as data: what each means, what chips call it, and how they are grouped into
// passes.
#pragma once

#include <array>
#include <vector>

#include "problem/problem.hpp"

namespace attnprof {

enum class Quantity {
  hbm_read,
  hbm_write,
  l2_read,
  l2_write,
  l2_atomic,
  l2_reduction,
  sm_read,
  sm_write,
  local_load,
  local_store,
  occupancy,
  tensor_pipe,
  cycles,
  duration,
  active_cycles,
  tensor_flops,
};
inline constexpr size_t quantity_count = static_cast<size_t>(Quantity::tensor_flops) + 1;

// (Not `Metric`, which is what the gate compares.)
struct CounterMetric {
  Quantity quantity;
  std::array<const char*, 3> names;  // chips differ: the first that the chip knows; null for none
  double unit;                       // what one of the counter is in the quantity's unit (bytes of a sector)
  const char* meaning;
};

// Everything a row needs of products of `dtype` (fp32: the TF32 counter, which a library may use), in one
// configuration, because an enabled profiler takes one (range_profiler.hpp). Passes by CUPTI 13.0's host API
// without a device (metrics_test.cpp holds them): GA100 6, AD102 6, GH100 4, GB100 5, GB202 4.
// Every pass is one Start and Stop and one run of the operation: 28 ms on an H200.
// dram__throughput and gpu__time_duration would fit, but no column of a case shows them and every metric
// makes Start slower.
std::vector<CounterMetric> case_metrics(Dtype dtype);
// The tensor counter among them.
CounterMetric tensor_metric(Dtype dtype);

// Bytes at device memory alone: one pass on every chip, 13 ms on an H200.
std::vector<CounterMetric> hbm_metrics();

// What every count of a traced launch has: HBM bytes and its time. One pass on every chip.
std::vector<CounterMetric> launch_metrics();
// What a traced launch is asked for besides, in order of importance, but for tensor FLOPs.
std::vector<CounterMetric> further_launch_metrics();

}  // namespace attnprof
