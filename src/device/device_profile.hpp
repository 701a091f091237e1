// What the model, the planner and the roofline know of a device.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "problem/problem.hpp"

namespace attnprof {

// One point of a device's L2 retention curve: of a second read of `mebibytes` MiB, `miss_share` comes from
// DRAM.
struct L2Point {
  double mebibytes;
  double miss_share;
};

struct DeviceProfile {
  std::string name;   // "h200"; a real GPU keeps the driver's name, e.g. "NVIDIA H200"
  std::string title;  // for people: "NVIDIA H200 SXM 141 GB"
  std::string arch;   // nvcc target: "sm_90a"

  int sms = 0;
  int64_t smem_per_sm_bytes = 0;
  int64_t smem_per_block_bytes = 0;  // opt-in maximum of one block
  int registers_per_sm = 65536;
  int max_threads_per_sm = 2048;
  int max_ctas_per_sm = 32;
  double sm_clock_mhz = 0;  // boost

  int64_t hbm_bytes = 0;
  int64_t l2_bytes = 0;
  std::vector<L2Point> l2_curve;  // ascending; empty: not calibrated, a step at l2_bytes is assumed
  int64_t l2_dirty_bytes = 0;     // written data L2 keeps before it must go to DRAM
  // Room in L2 of data that several SMs read, over that of data read by one, with which the curve is
  // measured: above 1 where L2 has parts that each keep a copy for their own SMs.
  double l2_shared_room = 1;

  double hbm_gbps = 0;  // GB is 1e9 bytes
  double l2_gbps = 0;
  double smem_gbps = 0;            // all SMs together
  double tensor_16bit_tflops = 0;  // dense, fp32 accumulation
  double tensor_fp8_tflops = 0;    // dense, fp32 accumulation; 0: it has none, or none is known
  double tensor_clock_mhz = 0;     // SM clock that the tensor figures are of; 0: sm_clock_mhz
  double fp32_tflops = 0;          // FMA counted as 2
  double exp_gops = 0;             // MUFU.EX2, all SMs together
  double launch_us = 0;            // one kernel launch inside a stream
};

// The rates that rows are held against, under the names that a run's .meta.json keeps them by.
struct PeakFigure {
  std::string_view name;
  double DeviceProfile::*rate;
};
inline constexpr auto peak_figures = std::to_array<PeakFigure>({
    {"hbm_gbps", &DeviceProfile::hbm_gbps},
    {"l2_gbps", &DeviceProfile::l2_gbps},
    {"smem_gbps", &DeviceProfile::smem_gbps},
    {"tensor_16bit_tflops", &DeviceProfile::tensor_16bit_tflops},
    {"tensor_fp8_tflops", &DeviceProfile::tensor_fp8_tflops},
    {"fp32_tflops", &DeviceProfile::fp32_tflops},
    {"exp_gops", &DeviceProfile::exp_gops},
    {"launch_us", &DeviceProfile::launch_us},
});

// The name of one of peak_figures; empty for another figure.
constexpr std::string_view figure_name(double DeviceProfile::*rate) {
  for (const PeakFigure& figure : peak_figures)
    if (figure.rate == rate) return figure.name;
  return {};
}

// The rates that rows of a run were held against, by PeakFigure::name.
using Peaks = std::map<std::string, double, std::less<>>;

// What tensor cores do with operands of `dtype`; 0 where it is not known.
inline double tensor_tflops(const DeviceProfile& device, Dtype dtype) {
  return dtype == Dtype::fp8 ? device.tensor_fp8_tflops : device.tensor_16bit_tflops;
}

}  // namespace attnprof
