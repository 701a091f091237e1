#include "device/device_profiles.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace attnprof {
namespace {

constexpr int64_t kib = 1024;
constexpr int64_t mib = 1024 * kib;
constexpr int64_t gb = 1'000'000'000;

// Rates no data sheet prints follow from what an SM does a clock, the same on every architecture here:
// shared memory 128 B (32 banks of 4 B), 16 exponentials (CUDA C++ Programming Guide, throughput of native
// arithmetic instructions, row of special functions).
void derive_sm_rates(DeviceProfile& device) {
  const double gigacycles = device.sms * device.sm_clock_mhz / 1e3;
  device.smem_gbps = 128 * gigacycles;
  device.exp_gops = 16 * gigacycles;
}

// No vendor figure: what an empty kernel adds to a stream that is kept full, rounded to half a microsecond.
constexpr double usual_launch_us = 2.0;

// Shared memory, threads and blocks an SM: CUDA C++ Programming Guide, technical specifications by compute
// capability. The combined L1 is larger (A100 192 KB, H100 and B200 256 KB, Ada 128 KB); one KB a block is
// the system's.
DeviceProfile ampere_a100() {  // compute capability 8.0
  DeviceProfile device;
  device.arch = "sm_80";
  device.sms = 108;  // A100 whitepaper
  device.smem_per_sm_bytes = 164 * kib;
  device.smem_per_block_bytes = 163 * kib;
  device.sm_clock_mhz = 1410;  // A100 whitepaper, boost
  device.l2_bytes = 40 * mib;  // A100 whitepaper
  device.l2_dirty_bytes = assumed_dirty_bytes(device.l2_bytes);
  device.l2_gbps = 5000;  // as quoted in the attention literature; 5120 B a clock would be 7.2 TB/s
  device.tensor_16bit_tflops = 312;  // A100 data sheet, dense
  device.fp32_tflops = 19.5;         // A100 data sheet
  device.launch_us = usual_launch_us;
  derive_sm_rates(device);  // shared memory 19.5 TB/s, exp 2.4 T/s
  return device;
}

DeviceProfile a100_sxm_80g() {
  DeviceProfile device = ampere_a100();
  device.name = "a100-sxm-80g";
  device.title = "NVIDIA A100 SXM 80 GB";
  device.hbm_bytes = 80 * gb;
  device.hbm_gbps = 2039;  // A100 80 GB data sheet; "2 TB/s" in the literature
  return device;
}

DeviceProfile a100_pcie_40g() {
  DeviceProfile device = ampere_a100();
  device.name = "a100-pcie-40g";
  device.title = "NVIDIA A100 PCIe 40 GB";
  device.hbm_bytes = 40 * gb;
  device.hbm_gbps = 1555;  // A100 40 GB data sheet
  return device;
}

DeviceProfile hopper_gh100() {  // compute capability 9.0
  DeviceProfile device;
  device.arch = "sm_90a";
  device.sms = 132;  // H100 whitepaper, SXM5; the H200 driver reports the same
  device.smem_per_sm_bytes = 228 * kib;
  device.smem_per_block_bytes = 227 * kib;
  device.sm_clock_mhz = 1980;  // H100 SXM boost; seen on an H200 under load
  // No vendor figure: what arrives at the SMs, measured on an H200 (results/h200/evidence/ceilings.csv).
  // Public microbenchmarks of H100 that have less on its way read 5500 to 7000.
  device.l2_gbps = 11000;
  device.tensor_16bit_tflops = 989;  // H100 and H200 data sheets, dense (1979 with sparsity)
  device.tensor_fp8_tflops = 1979;   // H100 and H200 data sheets, dense (3958 with sparsity)
  // The data sheets' tensor figures are of a lower clock than their fp32 figure (132 SMs x 256 FLOP a clock x
  // 1980 MHz = 66.9): a dense 16-bit product is 4 tensor cores x 512 FMA = 4096 FLOP an SM and clock, and
  // 989.4 TFLOP/s / (132 x 4096) = 1830 MHz; fp8 twice as many: 1978.9.
  device.tensor_clock_mhz = 1830;
  device.fp32_tflops = 67;  // H100 and H200 data sheets
  device.launch_us = usual_launch_us;
  derive_sm_rates(device);
  return device;
}

DeviceProfile h100_sxm() {
  DeviceProfile device = hopper_gh100();
  device.name = "h100-sxm";
  device.title = "NVIDIA H100 SXM 80 GB";
  device.hbm_bytes = 80 * gb;
  device.hbm_gbps = 3350;      // H100 data sheet
  device.l2_bytes = 50 * mib;  // H100 whitepaper
  device.l2_dirty_bytes = assumed_dirty_bytes(device.l2_bytes);
  return device;
}

DeviceProfile h200() {
  DeviceProfile device = hopper_gh100();
  device.name = "h200";
  device.title = "NVIDIA H200 SXM 141 GB";
  device.hbm_bytes = 141 * gb;
  device.hbm_gbps = 4800;        // H200 data sheet; a plain read kernel was seen at 4310
  device.l2_bytes = 62'914'560;  // driver attribute
  // Measured: share of a second read of so many MiB that went to DRAM; dirty data kept at most.
  device.l2_curve = {{24, 0},    {32, 0.015}, {36, 0.06}, {40, 0.20},
                     {44, 0.51}, {48, 0.87},  {52, 0.98}, {60, 1.00}};
  device.l2_dirty_bytes = 29'500'000;
  // L2 is two halves, and an SM reads through its own (A100 whitepaper; on the H200 the sectors looked up are
  // 1.5 times those asked for: half the addresses live in the other half). Data that SMs of one half read
  // takes its room at home and, where that is the other half, once more: 1.5 on average. Of data that SMs of
  // both halves read, each half holds one: 2. The curve's data was read again by the SM that had read it
  // before, and its middle, 44 MiB, is L2's size over about 1.4.
  device.l2_shared_room = 2 / 1.5;
  return device;
}

DeviceProfile b200() {  // compute capability 10.0
  DeviceProfile device;
  device.name = "b200";
  device.title = "NVIDIA B200 SXM 180 GB";
  device.arch = "sm_100a";
  device.sms = 148;  // 74 on each of two dies, as the driver reports
  device.smem_per_sm_bytes = 228 * kib;
  device.smem_per_block_bytes = 227 * kib;
  device.sm_clock_mhz = 1965;   // boost the driver reports
  device.hbm_bytes = 180 * gb;  // DGX B200 data sheet: 1,440 GB of eight
  device.hbm_gbps = 8000;       // DGX B200 data sheet: 64 TB/s of eight
  device.l2_bytes = 126 * mib;  // both dies
  device.l2_dirty_bytes = assumed_dirty_bytes(device.l2_bytes);
  device.l2_gbps = 12000;             // no vendor figure: Hopper's rate by SMs, a die, twice, rounded down
  device.tensor_16bit_tflops = 2250;  // HGX B200 data sheet, dense (4.5 PFLOP/s with sparsity)
  device.tensor_fp8_tflops = 4500;    // HGX B200 data sheet, dense (9 PFLOP/s with sparsity)
  device.fp32_tflops = 75;            // HGX B200 data sheet
  device.launch_us = usual_launch_us;
  derive_sm_rates(device);
  return device;
}

DeviceProfile ada_ad102() {  // compute capability 8.9
  DeviceProfile device;
  device.arch = "sm_89";
  device.smem_per_sm_bytes = 100 * kib;
  device.smem_per_block_bytes = 99 * kib;
  device.max_threads_per_sm = 1536;
  device.max_ctas_per_sm = 24;
  device.sm_clock_mhz = 2520;  // Ada whitepaper, boost of both boards
  device.l2_gbps = 5000;       // no vendor figure; about what public microbenchmarks of RTX 4090 read
  device.launch_us = usual_launch_us;
  return device;
}

DeviceProfile l40s() {
  DeviceProfile device = ada_ad102();
  device.name = "l40s";
  device.title = "NVIDIA L40S 48 GB";
  device.sms = 142;            // L40S data sheet: 18,176 CUDA cores of 128 an SM
  device.hbm_bytes = 48 * gb;  // GDDR6, data sheet
  device.hbm_gbps = 864;       // data sheet
  device.l2_bytes = 96 * mib;  // Ada whitepaper, full AD102
  device.l2_dirty_bytes = assumed_dirty_bytes(device.l2_bytes);
  device.tensor_16bit_tflops = 362;  // data sheet, dense
  device.tensor_fp8_tflops = 733;    // data sheet, dense
  device.fp32_tflops = 91.6;         // data sheet
  derive_sm_rates(device);
  return device;
}

DeviceProfile rtx4090() {
  DeviceProfile device = ada_ad102();
  device.name = "rtx4090";
  device.title = "NVIDIA GeForce RTX 4090 24 GB";
  device.sms = 128;            // Ada whitepaper
  device.hbm_bytes = 24 * gb;  // GDDR6X, Ada whitepaper
  device.hbm_gbps = 1008;      // Ada whitepaper
  device.l2_bytes = 72 * mib;  // Ada whitepaper
  device.l2_dirty_bytes = assumed_dirty_bytes(device.l2_bytes);
  device.tensor_16bit_tflops = 165.2;  // Ada whitepaper, fp16 with fp32 accumulation, dense
  device.tensor_fp8_tflops = 330.3;    // Ada whitepaper, fp32 accumulation, dense (660.6 with fp16)
  device.fp32_tflops = 82.6;           // Ada whitepaper
  derive_sm_rates(device);
  return device;
}

// What drivers call these boards.
constexpr auto driver_names = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"NVIDIA A100-SXM4-80GB", "a100-sxm-80g"},
    {"NVIDIA A100-PCIE-40GB", "a100-pcie-40g"},
    {"NVIDIA H100 80GB HBM3", "h100-sxm"},
    {"NVIDIA H200", "h200"},
    {"NVIDIA B200", "b200"},
    {"NVIDIA L40S", "l40s"},
    {"NVIDIA GeForce RTX 4090", "rtx4090"},
});

}  // namespace

// The share of L2 that the H200 was seen to keep dirty (29.5 of 62.9 MB).
int64_t assumed_dirty_bytes(int64_t l2_bytes) { return l2_bytes * 47 / 100; }

std::span<const DeviceProfile> all_profiles() {
  static const std::vector<DeviceProfile> profiles = {a100_sxm_80g(), a100_pcie_40g(), h100_sxm(), h200(),
                                                      b200(),         l40s(),          rtx4090()};
  return profiles;
}

const DeviceProfile* find_profile(std::string_view name) {
  const auto profiles = all_profiles();
  const auto found = std::ranges::find(profiles, name, &DeviceProfile::name);
  return found == profiles.end() ? nullptr : &*found;
}

std::optional<DeviceProfile> find_profile_for_gpu(std::string_view driver_name) {
  const auto found =
      std::ranges::find(driver_names, driver_name, &std::pair<std::string_view, std::string_view>::first);
  if (found == driver_names.end()) return std::nullopt;
  DeviceProfile device = *find_profile(found->second);
  device.name = driver_name;
  return device;
}

}  // namespace attnprof
