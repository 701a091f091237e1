#include "device/rates.hpp"

#include <gtest/gtest.h>

#include "device/bandwidths.hpp"
#include "testing/h200.hpp"
#include "testing/round_device.hpp"

namespace attnprof {
namespace {

// As results/h200/evidence/ceilings.csv has them.
const Ceilings of_the_h200 = {
    {"mma_fp16_tflops", {591.0, 1, 40, 1698, 989}},   {"mma_bf16_tflops", {601.8, 1, 40, 1733, 989}},
    {"mma_fp8_tflops", {497.4, 1, 40, 1800, 1979}},   {"wgmma_fp16_tflops", {828.1, 1, 40, 1544, 989}},
    {"wgmma_bf16_tflops", {853.0, 1, 40, 1590, 989}}, {"wgmma_fp8_tflops", {1697.8, 1, 40, 1590, 1979}},
};

double as_measured(Dtype dtype, ProductUnit unit) {
  return tensor_rate(h200(), of_the_h200, dtype, unit, std::nullopt).value;
}

TEST(TensorRate, EveryDtypeHasItsOwnCeiling) {
  EXPECT_EQ(as_measured(Dtype::fp16, ProductUnit::mma), 591.0);
  EXPECT_EQ(as_measured(Dtype::bf16, ProductUnit::mma), 601.8);
  EXPECT_EQ(as_measured(Dtype::fp8, ProductUnit::mma), 497.4);
  for (const ProductUnit unit : {ProductUnit::wgmma, ProductUnit::library}) {
    EXPECT_EQ(as_measured(Dtype::fp16, unit), 828.1);
    EXPECT_EQ(as_measured(Dtype::bf16, unit), 853.0);
    EXPECT_EQ(as_measured(Dtype::fp8, unit), 1697.8);
  }
  EXPECT_EQ(as_measured(Dtype::fp32, ProductUnit::library), 828.1) << "as fp16";
}

TEST(TensorRate, ACeilingOfTheOtherDtypeIsNoCeiling) {
  const Ceilings bf16 = {{"wgmma_bf16_tflops", {853.0, 1, 40, 1590, 989}}};
  EXPECT_EQ(tensor_rate(h200(), bf16, Dtype::fp16, ProductUnit::wgmma, std::nullopt).source,
            "nominal tensor_16bit_tflops");
}

TEST(TensorRate, MmaSyncStandsInForTheFastestWayOnlyWhereItIs) {
  DeviceProfile other = h200();
  const Ceilings mma = {{"mma_fp16_tflops", {591.0, 1, 40, 1698, 989}}};
  const auto fastest = [&] {
    return tensor_rate(other, mma, Dtype::fp16, ProductUnit::library, std::nullopt).value;
  };
  EXPECT_EQ(fastest(), 989) << "Hopper has wgmma";
  other.arch = "sm_80";
  EXPECT_EQ(fastest(), 591);
  other.tensor_16bit_tflops = 2250;
  EXPECT_EQ(fastest(), 2250) << "mma.sync is not what 2250 is of";
}

// 132 SMs x 4096 FLOP a clock x 1830 MHz are the data sheet's 989 TFLOP/s.
TEST(TensorRate, NominalRatesAreOfTheDataSheetsClock) {
  const auto nominal = [](Dtype dtype, double mhz) {
    return tensor_rate(h200(), {}, dtype, ProductUnit::wgmma, mhz).value;
  };
  for (const double mhz : {1500.0, 1830.0, 1980.0}) {
    EXPECT_NEAR(nominal(Dtype::bf16, mhz), 132 * 4096 * mhz / 1e6, 1);
    EXPECT_NEAR(nominal(Dtype::fp8, mhz), 132 * 8192 * mhz / 1e6, 1);
  }
  DeviceProfile plain = round_device();
  plain.sm_clock_mhz = 1000;
  EXPECT_DOUBLE_EQ(tensor_rate(plain, {}, Dtype::bf16, ProductUnit::library, 500).value, 50)
      << "of the boost clock, where nothing else is said";
}

// What was measured, per clock, is what is assumed where nothing is measured.
TEST(TensorRate, TheAssumedShareOfMmaSyncIsTheMeasuredOne) {
  for (const Dtype dtype : {Dtype::fp16, Dtype::bf16, Dtype::fp8})
    for (const double mhz : {1400.0, 1980.0}) {
      const double assumed = tensor_rate(h200(), {}, dtype, ProductUnit::mma, mhz).value;
      EXPECT_NEAR(assumed / tensor_rate(h200(), of_the_h200, dtype, ProductUnit::mma, mhz).value, 1, 0.005)
          << to_string(dtype);
    }
  EXPECT_EQ(tensor_rate(h200(), {}, Dtype::bf16, ProductUnit::mma, 1830).source,
            "nominal tensor_16bit_tflops x 0.643, as measured of mma.sync on an H200");
}

TEST(Rates, OfEveryBandwidthAreItsCeilingsElseItsNominalRate) {
  const DeviceProfile device = h200();
  for (const Bandwidth& each : bandwidths) {
    const Ceilings ceilings = {{std::string(each.read_ceiling), {.median = 7}},
                               {std::string(each.write_ceiling), {.median = 5}}};
    const Rates nominal = rates_at(device, {}, Dtype::fp16, std::nullopt);
    const Rates reached = rates_at(device, ceilings, Dtype::fp16, std::nullopt);
    EXPECT_EQ((nominal.*each.read).value, device.*each.nominal) << each.name;
    EXPECT_EQ((nominal.*each.write).value, device.*each.nominal) << each.name;
    EXPECT_FALSE(nominal.measured);
    EXPECT_TRUE(reached.measured) << each.name;
    EXPECT_EQ((reached.*each.read).source, "ceiling " + std::string(each.read_ceiling));
    EXPECT_EQ((reached.*each.write).source, "ceiling " + std::string(each.write_ceiling));
    EXPECT_EQ((reached.*each.read).value, 7) << each.name;
  }
}

TEST(AtCeilings, StandInForNominalRates) {
  DeviceProfile device = h200();
  Ceilings ceilings = of_the_h200;
  ceilings["hbm_read_gbps"] = {4310, 0.5, 30, 1980, 4800};
  ceilings["hbm_copy_gbps"] = {3900, 1, 40, 1980, 4800};
  ceilings["fma_tflops"] = {55, 1, 40, std::nullopt, std::nullopt};
  const DeviceProfile reached = at_ceilings(device, ceilings, Dtype::fp16);
  EXPECT_EQ(reached.hbm_gbps, 4310) << "the fastest of HBM's";
  EXPECT_EQ(reached.fp32_tflops, 55);
  EXPECT_EQ(reached.exp_gops, device.exp_gops) << "not measured";
  EXPECT_EQ(reached.tensor_16bit_tflops, 828.1) << "wgmma's, and not bf16's";
  EXPECT_EQ(at_ceilings(device, ceilings, Dtype::bf16).tensor_16bit_tflops, 853.0);
  EXPECT_EQ(at_ceilings(device, ceilings, Dtype::fp8).tensor_fp8_tflops, 1697.8);
  EXPECT_EQ(at_ceilings(device, {}, Dtype::fp16).hbm_gbps, 4800);
  EXPECT_EQ(at_ceilings(device, {}, Dtype::fp16).tensor_16bit_tflops, 989);
}

}  // namespace
}  // namespace attnprof
