#include "measure/gpu/gpu_profile.hpp"

#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "model/predict.hpp"
#include "roofline/row_roofline.hpp"
#include "row/schema.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

// What the driver of an H200 reports.
GpuFacts h200_facts() {
  return {.name = "NVIDIA H200",
          .major = 9,
          .minor = 0,
          .sms = 132,
          .smem_per_sm_bytes = 228 * 1024,
          .smem_per_block_bytes = 227 * 1024,
          .registers_per_sm = 65536,
          .max_threads_per_sm = 2048,
          .max_ctas_per_sm = 32,
          .sm_clock_mhz = 1980,
          .memory_clock_mhz = 3201,
          .memory_bus_bits = 6144,
          .memory_bytes = 150'000'000'000,
          .l2_bytes = 62'914'560};
}

TEST(GpuProfile, AKnownBoardHasItsPeaksAndCalibration) {
  const auto [device, builtin] = profile_of_gpu(h200_facts());
  EXPECT_TRUE(builtin);
  EXPECT_EQ(device.name, "NVIDIA H200");
  EXPECT_EQ(device.tensor_16bit_tflops, find_profile("h200")->tensor_16bit_tflops);
  EXPECT_EQ(device.l2_curve.size(), find_profile("h200")->l2_curve.size());
  EXPECT_EQ(device.l2_shared_room, find_profile("h200")->l2_shared_room);
  EXPECT_EQ(device.hbm_bytes, 150'000'000'000) << "sizes are the driver's";
}

TEST(GpuProfile, AnUnknownBoardHasWhatItsClocksGive) {
  GpuFacts facts = h200_facts();
  facts.name = "NVIDIA H300";
  const auto [device, builtin] = profile_of_gpu(facts);
  EXPECT_FALSE(builtin);
  EXPECT_EQ(device.title, "NVIDIA H300");
  EXPECT_EQ(device.arch, "sm_90a");
  EXPECT_NEAR(device.hbm_gbps, 4917, 1);
  EXPECT_NEAR(device.fp32_tflops, 66.9, 0.1);
  EXPECT_EQ(device.tensor_16bit_tflops, 0) << "no attribute gives it";
  EXPECT_TRUE(device.l2_curve.empty());
  EXPECT_EQ(device.l2_shared_room, 1);
  EXPECT_NEAR(static_cast<double>(device.l2_dirty_bytes), 0.47 * 62'914'560, 1) << "assumed, not 0";
}

TEST(GpuProfile, AmpereA100HasHalfTheFp32Lanes) {
  GpuFacts facts = h200_facts();
  facts.name = "NVIDIA A100-SXM-64GB", facts.major = 8, facts.minor = 0, facts.sms = 108;
  facts.sm_clock_mhz = 1410;
  EXPECT_NEAR(profile_of_gpu(facts).device.fp32_tflops, 19.5, 0.1);
}

TEST(GpuProfile, ASliceIsNotTheWholeBoard) {
  GpuFacts facts = h200_facts();
  facts.sms = 16, facts.l2_bytes = 7'864'320;
  const auto [device, builtin] = profile_of_gpu(facts);
  EXPECT_FALSE(builtin);
  EXPECT_EQ(device.tensor_16bit_tflops, 0);
  EXPECT_NEAR(device.fp32_tflops, 16 * 128 * 2 * 1.98 / 1e3, 0.1);
}

TEST(GpuProfile, AnotherL2IsNotCalibrated) {
  GpuFacts facts = h200_facts();
  facts.l2_bytes = 50'000'000;
  const auto [device, builtin] = profile_of_gpu(facts);
  EXPECT_TRUE(builtin);
  EXPECT_TRUE(device.l2_curve.empty());
  EXPECT_EQ(device.l2_dirty_bytes, 23'500'000);
}

// A driver that says nothing of clocks and memory: every cell is a number or empty.
TEST(GpuProfile, ADriverThatSaysLittleGivesNoInfiniteCell) {
  GpuFacts facts = h200_facts();
  facts.name = "NVIDIA H300", facts.sm_clock_mhz = facts.memory_clock_mhz = 0;
  const DeviceProfile device = profile_of_gpu(facts).device;
  for (const Variant* variant : all_variants()) {
    Case c;
    c.variant = variant;
    c.problem.q_len = c.problem.kv_len = 512;
    c.tile = variant->default_tile(c.problem, device).tile;
    set_launches(c, device);
    Row row;
    row.identity.word("dtype") = "fp16", row.identity.count("head_dim") = 64;
    row.model = predict(c, device);
    row.latency.median_ns = 1000;
    row.counters.hbm_read = row.counters.hbm_total = row.counters.sm_total = 1'000'000'000;
    row.counters.hbm_write_in_kernel = 0;
    fill_roofline(row, device);
    EXPECT_TRUE(row.roofline.useful_tflops_per_s) << variant->name;
    EXPECT_FALSE(row.roofline.mfu_pct || row.roofline.roof_pct || row.roofline.roof_tflops_per_s);
    EXPECT_EQ(row.roofline.bound, "");
    EXPECT_EQ(row.status.flags, "uncalibrated") << "1 TB/ms is above no ceiling that is known";
  }
}

}  // namespace
}  // namespace attnprof
