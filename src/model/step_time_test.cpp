#include "model/step_time.hpp"
#include "testing/round_device.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

DeviceProfile round_numbers() {
  DeviceProfile d = round_device();
  d.sms = 100;
  d.sm_clock_mhz = 1000;
  d.launch_us = 2;
  return d;
}

StepPrediction step_of(int64_t ctas) {
  StepPrediction step;
  step.ctas = ctas;
  return step;
}

TEST(StepTime, IsLaunchAndTheSlowestResource) {
  StepPrediction step = step_of(100);
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 2000);
  step.hbm_read_bytes = 6e6, step.hbm_write_bytes = 4e6;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 12'000);
  step.sm_read_bytes = 80e6;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 22'000);
  step.tensor_flops = 3e9;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 32'000);
  step.fma_flops = 4e8;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 42'000);
  step.exponentials = 5e7;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 52'000);
}

TEST(StepTime, Fp8ProductsRunAtTheirOwnRate) {
  StepPrediction step = step_of(100);
  step.tensor_flops = 3e9, step.tensor_dtype = Dtype::fp8;
  DeviceProfile device = round_numbers();
  EXPECT_DOUBLE_EQ(step_time_ns(step, device), 32'000) << "not known: at least the 16-bit rate";
  device.tensor_fp8_tflops = 200;
  EXPECT_DOUBLE_EQ(step_time_ns(step, device), 17'000);
}

TEST(StepTime, TheBusiestSmDecides) {
  StepPrediction step = step_of(101);
  step.tensor_flops = 101e7;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 2000 + 20'000)
      << "two blocks of 1e7 FLOPs at 1 TFLOP/s";
  step = step_of(10);
  step.tensor_flops = 10e7;
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 2000 + 10'000);
}

TEST(StepTime, FewBlocksCannotDrawAllOfL2) {
  StepPrediction step = step_of(10);
  step.sm_read_bytes = 64e6;  // 10 links of 64 B at 1 GHz
  EXPECT_DOUBLE_EQ(step_time_ns(step, round_numbers()), 2000 + 100'000);
}

TEST(StepTime, LongestStep) {
  Prediction prediction;
  prediction.steps = {step_of(100), step_of(100), step_of(100)};
  prediction.steps[1].hbm_read_bytes = 1e9;
  EXPECT_EQ(longest_step(prediction, round_numbers()), 1u);
  EXPECT_EQ(longest_step({}, round_numbers()), 0u);
}

}  // namespace
}  // namespace attnprof
