#include "roofline/row_roofline.hpp"

#include <gtest/gtest.h>

#include "row/schema.hpp"
#include "testing/round_device.hpp"

namespace attnprof {
namespace {

// Peaks in round numbers: 100 TFLOP/s tensor, 10 fp32, HBM 1 TB/s, L2 4 TB/s.
DeviceProfile device_with_l2_curve() {
  DeviceProfile d = round_device();
  d.l2_curve = {{1, 0}, {2, 1}};
  return d;
}

// 4 GFLOP in 100 us (40 TFLOP/s), 20 MB of HBM (200 FLOP a byte), 160 MB at the SMs.
Row tensor_row() {
  Row row;
  row.identity.word("dtype") = "fp16";
  row.identity.count("head_dim") = 100;
  row.model.useful_flops = 4'000'000'000;
  row.model.tensor_flops = 4'000'000'000;
  row.model.hbm_bytes = 20'000'000;
  row.latency.median_ns = 100'000;
  row.counters.hbm_read = 15'000'000;
  row.counters.hbm_write = 5'000'000;
  row.counters.hbm_write_in_kernel = 1'000'000;
  row.counters.hbm_total = 20'000'000;
  row.counters.sm_total = 160'000'000;
  return row;
}

TEST(Place, RoofsAreAsMeasuredAndMfuIsNominal) {
  Row row = tensor_row();
  fill_roofline(row, device_with_l2_curve(),
                {{"wgmma_fp16_tflops", {.median = 200}}, {"hbm_read_gbps", {.median = 600}}});
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 120) << "200 FLOP/B x 0.6 TB/s";
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 40) << "of 100";
  EXPECT_FALSE(has_flag(row.status, Flag::above_ceiling));
  DeviceProfile slower = device_with_l2_curve();
  slower.tensor_16bit_tflops = 60;
  fill_roofline(row, slower, {{"wgmma_fp16_tflops", {.median = 39}}});
  EXPECT_TRUE(has_flag(row.status, Flag::above_ceiling));
}

// fp16 is held against 50 TFLOP/s and bf16 against 39: roof, bound and flag go by the row's own.
TEST(Place, RoofsAreOfTheRowsDtype) {
  const Ceilings ceilings = {{"wgmma_fp16_tflops", {.median = 50}}, {"wgmma_bf16_tflops", {.median = 39}}};
  Row row = tensor_row();
  row.counters.sm_total = 360'000'000;  // 90 us
  fill_roofline(row, device_with_l2_curve(), ceilings);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 50);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_pct, 80);
  EXPECT_EQ(row.roofline.bound, "l2") << "80 us of tensor cores";
  EXPECT_FALSE(has_flag(row.status, Flag::above_ceiling));
  row.identity.word("dtype") = "bf16";
  fill_roofline(row, device_with_l2_curve(), ceilings);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 39);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_pct, 100 * 40 / 39.0);
  EXPECT_EQ(row.roofline.bound, "tensor") << "103 us";
  EXPECT_TRUE(has_flag(row.status, Flag::above_ceiling));
}

TEST(Place, ARowByHand) {
  Row row = tensor_row();
  row.counters.sm_total = 120'000'000;
  row.counters.l2_read = 90'000'000;
  row.counters.l2_write = 10'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.hbm_intensity, 200);
  EXPECT_DOUBLE_EQ(*row.roofline.l2_intensity, 40);
  EXPECT_DOUBLE_EQ(*row.roofline.sm_intensity, 4000 / 120.0);
  EXPECT_DOUBLE_EQ(*row.roofline.useful_tflops_per_s, 40);
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 40);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 100) << "200 FLOP/B x 1 TB/s is above the peak";
  EXPECT_DOUBLE_EQ(*row.roofline.roof_pct, 40);
  EXPECT_EQ(row.roofline.bound, "tensor") << "40 us of 100; hbm 20, l2 30, exp 10";
  EXPECT_EQ(row.status.flags, "");
}

TEST(Place, Fp8HasItsOwnPeak) {
  Row row = tensor_row();
  row.identity.word("dtype") = "fp8";
  DeviceProfile unknown = device_with_l2_curve(), known = device_with_l2_curve();
  known.tensor_fp8_tflops = 160;
  fill_roofline(row, known);
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 25);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 160);
  row = tensor_row();
  row.identity.word("dtype") = "fp8";
  fill_roofline(row, unknown);
  EXPECT_FALSE(row.roofline.mfu_pct || row.roofline.roof_pct) << "no peak, no share of it";
}

TEST(Place, TheMemoryRoof) {
  Row row = tensor_row();
  row.counters.hbm_total = 80'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 50);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_pct, 80);
  EXPECT_EQ(row.roofline.bound, "hbm");
}

TEST(Place, IntensityIsNoIntegerDivision) {
  Row row = tensor_row();
  row.model.useful_flops = 10'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.hbm_intensity, 0.5);
}

TEST(Place, EachResourceCanBind) {
  Row row = tensor_row();
  row.counters.sm_total = 240'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_EQ(row.roofline.bound, "l2");
  row = tensor_row();
  row.identity.count("head_dim") = 16;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_EQ(row.roofline.bound, "exp") << "62.5 M exponentials";
  row = tensor_row();
  row.latency.median_ns = 1'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_EQ(row.roofline.bound, "latency");
}

TEST(Place, VariantsWithoutTensorCoresAreHeldToTheFmaPeak) {
  Row row = tensor_row();
  row.model.tensor_flops = 0;
  row.latency.median_ns = 1'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 40);
  EXPECT_DOUBLE_EQ(*row.roofline.roof_tflops_per_s, 10);
  EXPECT_EQ(row.roofline.bound, "fma");
}

TEST(Place, ALibrarysProductsGoByDtypeUntilCounted) {
  Row row = tensor_row();
  row.model.tensor_flops.reset();
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 40);
  row = tensor_row();
  row.model.tensor_flops.reset();
  row.identity.word("dtype") = "fp32";
  row.latency.median_ns = 1'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 40);
  row.counters.executed_tensor_flops = 4'000'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_DOUBLE_EQ(*row.roofline.mfu_pct, 4) << "the counter decides";
}

TEST(Place, AbsentBytesLeaveEmptyCells) {
  Row row = tensor_row();
  row.counters = {};
  fill_roofline(row, device_with_l2_curve());
  EXPECT_FALSE(row.roofline.hbm_intensity || row.roofline.l2_intensity || row.roofline.sm_intensity);
  EXPECT_FALSE(row.roofline.roof_tflops_per_s || row.roofline.roof_pct);
  EXPECT_TRUE(row.roofline.useful_tflops_per_s);
  row.counters.hbm_total = 0;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_FALSE(row.roofline.hbm_intensity);
}

TEST(Place, WithoutBytesNothingIsSaidToBind) {
  Row row = tensor_row();
  row.counters = {};
  fill_roofline(row, device_with_l2_curve());
  EXPECT_EQ(row.roofline.bound, "") << "HBM might be what takes longest";
}

// Whatever of a device is not known: no infinite or NaN cell, no false flag, nothing named as the bound.
TEST(Place, AnUnknownDevice) {
  Row row = tensor_row();
  fill_roofline(row, DeviceProfile{});
  EXPECT_DOUBLE_EQ(*row.roofline.useful_tflops_per_s, 40) << "needs no peak";
  EXPECT_DOUBLE_EQ(*row.roofline.hbm_intensity, 200);
  EXPECT_FALSE(row.roofline.mfu_pct || row.roofline.roof_tflops_per_s || row.roofline.roof_pct);
  EXPECT_EQ(row.roofline.bound, "");
  EXPECT_EQ(row.status.flags, "uncalibrated");
}

TEST(Place, EachUnknownRateIsLeftOutAlone) {
  for (double DeviceProfile::*rate : {&DeviceProfile::hbm_gbps, &DeviceProfile::l2_gbps,
                                      &DeviceProfile::exp_gops, &DeviceProfile::tensor_16bit_tflops}) {
    Row row = tensor_row();
    DeviceProfile partly = device_with_l2_curve();
    partly.*rate = 0;
    fill_roofline(row, partly);
    EXPECT_EQ(row.roofline.bound, "");
    EXPECT_FALSE(has_flag(row.status, Flag::above_ceiling));
    EXPECT_EQ(row.roofline.mfu_pct.has_value(), rate != &DeviceProfile::tensor_16bit_tflops);
    EXPECT_EQ(row.roofline.roof_tflops_per_s.has_value(),
              rate != &DeviceProfile::tensor_16bit_tflops && rate != &DeviceProfile::hbm_gbps);
  }
  Row fast = tensor_row();
  DeviceProfile no_hbm = device_with_l2_curve();
  no_hbm.hbm_gbps = 0;
  fast.latency.median_ns = 39'000;  // above the tensor peak, which is known
  fill_roofline(fast, no_hbm);
  EXPECT_TRUE(has_flag(fast.status, Flag::above_ceiling));
}

TEST(Place, WithoutATimeThereIsNoRate) {
  Row row = tensor_row();
  row.latency = {};
  fill_roofline(row, device_with_l2_curve());
  EXPECT_TRUE(row.roofline.hbm_intensity);
  EXPECT_FALSE(row.roofline.useful_tflops_per_s || row.roofline.mfu_pct || row.roofline.roof_pct);
  EXPECT_EQ(row.roofline.bound, "");
}

TEST(Place, RatesAboveTheirCeilingAreFlagged) {
  Row row = tensor_row();
  row.latency.median_ns = 39'000;  // 102.6 TFLOP/s
  fill_roofline(row, device_with_l2_curve());
  EXPECT_TRUE(has_flag(row.status, Flag::above_ceiling));
  row = tensor_row();
  row.counters.hbm_read = 103'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_TRUE(has_flag(row.status, Flag::above_ceiling));
  row = tensor_row();
  row.counters.hbm_read = 100'500'000;  // with 1 MB written within the run: 1.5 % above
  fill_roofline(row, device_with_l2_curve());
  EXPECT_FALSE(has_flag(row.status, Flag::above_ceiling));
}

TEST(Place, WritesThatSettleLaterAreNoRate) {
  Row row = tensor_row();
  row.counters.hbm_total = 150'000'000;
  row.counters.hbm_write = 135'000'000;
  fill_roofline(row, device_with_l2_curve());
  EXPECT_FALSE(has_flag(row.status, Flag::above_ceiling));
}

TEST(Place, AnAssumedL2IsSaid) {
  Row row = tensor_row();
  DeviceProfile assumed = device_with_l2_curve();
  assumed.l2_curve.clear();
  fill_roofline(row, assumed);
  EXPECT_EQ(row.status.flags, "uncalibrated");
}

}  // namespace
}  // namespace attnprof
