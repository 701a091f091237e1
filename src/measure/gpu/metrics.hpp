// The hardware counters in use, as data: what each means, what chips call it, and how they are grouped into
// passes.
#pragma once

#include <array>
#include <vector>

#include "plan/problem.hpp"

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
  tensor_flops,
};
inline constexpr size_t quantity_count = static_cast<size_t>(Quantity::tensor_flops) + 1;

struct Metric {
  Quantity quantity;
  std::array<const char*, 2> names;  // chips differ: the first that the chip knows; null for none
  double unit;                       // what one of the counter is in the quantity's unit (bytes of a sector)
  const char* meaning;
};

// Passes counted with CUPTI 13.0's host API (metrics_test.cpp holds them):
//                               GA100 AD102 GH100 GB100 GB202
//   io_metrics                      1     1     1     1     1
//   sm_metrics, each dtype          5     5     2     3     3
//   both in one configuration       6     6     3     4     4
//   L2 atomics in io_metrics        2     1     1     1     1   so they ride with the SM side, at no pass
//   local memory in sm_metrics     +1    +1    +1    +1    +1   so it rides with io_metrics, at no pass
//   tensor FLOPs alone              1     1   1-2     1   1-2   and 0 more in sm_metrics, 1 more in
//   io_metrics
// Every pass is one Start and Stop (13 to 28 ms on an H200) and one run of the operation, whatever the
// grouping: two configurations cost no pass more than one, and settled writes then need their second range,
// the eviction read, in one pass only. dram__throughput, gpu__time_duration and the tensor instructions would
// fit io_metrics too, but no column shows them and every metric makes Start slower.
std::vector<Metric> io_metrics();

// Bytes at the SMs, atomics, and executed tensor FLOPs of products of `dtype` (fp32: TF32, which a library
// may use).
std::vector<Metric> sm_metrics(Dtype dtype);

}  // namespace attnprof
