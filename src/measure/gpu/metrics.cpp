#include "measure/gpu/metrics.hpp"

#include <algorithm>
#include <iterator>

namespace attnprof {
namespace {

constexpr double sector_bytes = 32;

constexpr CounterMetric common[] = {
    {Quantity::hbm_read,
     {"dram__bytes_read.sum", "dram__bytes_op_read.sum"},
     1,
     "bytes read from device memory"},
    {Quantity::hbm_write,
     {"dram__bytes_write.sum", "dram__bytes_op_write.sum"},
     1,
     "bytes written to device memory inside the range; dirty lines left in L2 are not among them"},
    {Quantity::l2_read,
     {"lts__t_sectors_srcunit_tex_op_read.sum"},
     sector_bytes,
     "sectors L2 served to SMs, equal requests of neighbouring SMs merged; lts__t_bytes would add the "
     "traffic between the halves of L2"},
    {Quantity::l2_write,
     {"lts__t_sectors_srcunit_tex_op_write.sum"},
     sector_bytes,
     "sectors SMs wrote to L2"},
    {Quantity::local_load,
     {"l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum"},
     1,
     "bytes of local memory loads: register spills"},
    {Quantity::local_store,
     {"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum"},
     1,
     "bytes of local memory stores"},
    {Quantity::occupancy,
     {"sm__warps_active.avg.pct_of_peak_sustained_active"},
     1,
     "resident warps over what an SM can hold, while it has any, percent"},
    {Quantity::tensor_pipe,
     {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed"},
     1,
     "cycles the tensor pipe was active, percent of elapsed"},
    {Quantity::cycles, {"sm__cycles_elapsed.max"}, 1, "SM cycles of the range, profiler's part included"},
    {Quantity::sm_read,
     {"l1tex__m_xbar2l1tex_read_bytes.sum"},
     1,
     "bytes that arrived at the SMs; TMA and multicast included, counted at each receiver"},
    {Quantity::sm_write, {"l1tex__m_l1tex2xbar_write_bytes.sum"}, 1, "bytes that left the SMs"},
    {Quantity::l2_atomic,
     {"lts__t_sectors_srcunit_tex_op_atom.sum"},
     sector_bytes,
     "sectors of atomics that return a value"},
    {Quantity::l2_reduction,
     {"lts__t_sectors_srcunit_tex_op_red.sum"},
     sector_bytes,
     "sectors of atomics that return none"},
};

// A tensor counter counts FLOPs (2 m n k a product): it is not scaled, and parents are not added to children.
CounterMetric tensor_flops(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp16:
      return {Quantity::tensor_flops,
              {"sm__ops_path_tensor_src_fp16_dst_fp32.sum", "sm__ops_path_tensor_src_fp16.sum"},
              1,
              "FLOPs of fp16 tensor core instructions; GH100 counts both accumulators in one"};
    case Dtype::bf16:
      return {Quantity::tensor_flops,
              {"sm__ops_path_tensor_src_bf16_dst_fp32.sum"},
              1,
              "FLOPs of bf16 tensor core instructions"};
    case Dtype::fp8:
      return {Quantity::tensor_flops,
              {"sm__ops_path_tensor_src_fp8.sum", "sm__ops_path_tensor_src_fp8_dst_fp32.sum",
               "sm__ops_path_tensor_src_fp4_fp6_fp8_dst_fp32.sum"},
              1,
              "FLOPs of fp8 tensor core instructions"};
    case Dtype::fp32:
      break;
  }
  return {Quantity::tensor_flops,
          {"sm__ops_path_tensor_src_tf32_dst_fp32.sum"},
          1,
          "FLOPs of TF32 tensor core instructions; 0 for products on FMA pipes"};
}

bool is_hbm(const CounterMetric& metric) {
  return metric.quantity == Quantity::hbm_read || metric.quantity == Quantity::hbm_write;
}

}  // namespace

CounterMetric tensor_metric(Dtype dtype) { return tensor_flops(dtype); }

std::vector<CounterMetric> case_metrics(Dtype dtype) {
  std::vector<CounterMetric> metrics(std::begin(common), std::end(common));
  metrics.push_back(tensor_flops(dtype));
  return metrics;
}

std::vector<CounterMetric> hbm_metrics() {
  std::vector<CounterMetric> metrics;
  std::ranges::copy_if(common, std::back_inserter(metrics), is_hbm);
  return metrics;
}

std::vector<CounterMetric> launch_metrics() {
  std::vector<CounterMetric> metrics = hbm_metrics();
  metrics.push_back(
      {Quantity::duration, {"gpu__time_duration.sum"}, 1, "ns of the range, profiler's part included"});
  metrics.push_back(
      {Quantity::active_cycles,
       {"sm__cycles_active.max"},
       1,
       "cycles in which the SM that was busiest had a warp: a kernel's time without the profiler's"});
  std::ranges::copy_if(common, std::back_inserter(metrics),
                       [](const CounterMetric& metric) { return metric.quantity == Quantity::cycles; });
  return metrics;
}

std::vector<CounterMetric> further_launch_metrics() {
  std::vector<CounterMetric> metrics;
  std::ranges::copy_if(common, std::back_inserter(metrics), [](const CounterMetric& metric) {
    return !is_hbm(metric) && metric.quantity != Quantity::cycles;
  });
  return metrics;
}

}  // namespace attnprof
