#include "measure/gpu/ceilings.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "measure/compile/ceiling_kernels.hpp"
#include "measure/gpu/gpu_fixture.hpp"

namespace attnprof {
namespace {

std::set<std::string_view> names(int major, int minor) {
  std::set<std::string_view> all;
  for (const TensorRateKernel& kernel : tensor_rate_kernels(major, minor, 1)) all.insert(kernel.ceiling);
  return all;
}

double flops_of(std::string_view name) {
  for (const TensorRateKernel& kernel : tensor_rate_kernels(9, 0, 132))
    if (kernel.ceiling == name) return kernel.flops_a_round;
  return 0;
}

TEST(CeilingKernels, EveryInstructionIsCounted) {
  // 132 SMs x 2 blocks x 8 warps, a round of 16 products of 16 x 8 x 16 multiply-adds; fp8: 8 of 16 x 8 x 32.
  EXPECT_DOUBLE_EQ(flops_of("mma_bf16_tflops"), 132.0 * 2 * 8 * 16 * 4096);
  EXPECT_DOUBLE_EQ(flops_of("mma_fp8_tflops"), 132.0 * 2 * 8 * 8 * 8192);
  // 132 SMs x 2 warpgroups, a round of 4 products of 64 x 256 x 16; fp8: x 32.
  EXPECT_DOUBLE_EQ(flops_of("wgmma_fp16_tflops"), 132.0 * 2 * 4 * 2 * 64 * 256 * 16);
  EXPECT_DOUBLE_EQ(flops_of("wgmma_fp8_tflops"), 132.0 * 2 * 4 * 2 * 64 * 256 * 32);
  // 2048 threads: 16 reads of 16 bytes; 64 steps of 8 chains.
  EXPECT_DOUBLE_EQ(smem_round_bytes(132), 132.0 * 2048 * 256);
  EXPECT_DOUBLE_EQ(fma_round_flops(132), 132.0 * 2048 * 512 * 2);
  EXPECT_DOUBLE_EQ(exp_round_operations(132), 132.0 * 2048 * 512);
}

TEST(CeilingKernels, AreThoseTheArchitectureHas) {
  EXPECT_TRUE(names(7, 5).empty());
  EXPECT_EQ(names(8, 0), (std::set<std::string_view>{"mma_fp16_tflops", "mma_bf16_tflops"}));
  EXPECT_TRUE(names(8, 9).contains("mma_fp8_tflops"));
  EXPECT_EQ(names(9, 0).size(), 6u);
  EXPECT_EQ(names(12, 0).size(), 3u) << "wgmma is Hopper's alone";
  for (std::string_view name : names(9, 0)) EXPECT_TRUE(find_ceiling_kind(name)) << name;
}

using CeilingsGpu = GpuTest;

// Each kernel does nothing but take its resource: mma.sync on e4m3, the slowest of them beside its nominal
// rate, reaches a quarter. What was not measured is a notice.
TEST_F(CeilingsGpu, AllAreMeasuredAndOfAPlausibleSize) {
  const MeasuredCeilings measured = measure_ceilings(options_);
  EXPECT_THAT(measured.notices, testing::IsEmpty());
  EXPECT_GE(measured.ceilings.size(), 8u);
  for (const auto& [name, ceiling] : measured.ceilings) {
    EXPECT_GT(ceiling.median, 0.2 * ceiling.nominal.value_or(0)) << name;
    EXPECT_LT(ceiling.median, 1.3 * ceiling.nominal.value_or(1e9)) << name;
  }
}

}  // namespace
}  // namespace attnprof
