// Opening the device, times, and what ends a case.
#include <fmt/format.h>

#include <iostream>

#include "base/run_program.hpp"
#include "measure/gpu/gpu_fixture.hpp"
#include "testing/processes.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

TEST_F(GpuTest, InfoDescribesTheDevice) {
  const auto backend = make_gpu_backend(options_);
  const BackendInfo& info = backend->info();
  EXPECT_EQ(info.name, "gpu");
  EXPECT_THAT(info.device.arch, testing::StartsWith("sm_"));
  EXPECT_GT(info.device.sms, 0);
  EXPECT_GT(info.device.l2_bytes, 1 << 20);
  EXPECT_GT(info.device.hbm_gbps, 0);
  EXPECT_GT(info.free_bytes, 0);
  EXPECT_LE(info.free_bytes, info.device.hbm_bytes);
  for (const std::string& name : info.comparable)
    EXPECT_TRUE(std::ranges::any_of(info.environment, [&](const auto& fact) { return fact.first == name; }))
        << name;
}

TEST_F(GpuTest, ADeviceThatDoesNotExistIsASentence) {
  options_.device = 99;
  try {
    make_gpu_backend(options_);
    FAIL() << "opened device 99";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("--device 99"));
  }
}

TEST_F(GpuTest, TimesHaveAnIntervalAndGrowWithTheProblem) {
  options_.max_time_s = 0.5;
  const auto backend = make_gpu_backend(options_);
  double previous = 0;
  for (const int64_t length : {256, 4096}) {
    Status status;
    backend->prepare(any_case(problem_of(length), backend->info().device));
    ASSERT_EQ(backend->verify().verified, "yes");
    const Latency latency = backend->time(status);
    ASSERT_GE(*latency.samples, 6) << "0.5 s are enough for these";
    ASSERT_TRUE(latency.ci95_low_ns && latency.ci95_high_ns);
    EXPECT_GT(*latency.median_ns, 2 * previous);
    EXPECT_LE(*latency.min_ns, *latency.ci95_low_ns);
    EXPECT_LE(*latency.ci95_low_ns, *latency.median_ns);
    EXPECT_LE(*latency.median_ns, *latency.ci95_high_ns);
    EXPECT_LE(*latency.median_ns, *latency.p90_ns);
    previous = *latency.median_ns;
  }
}

// Few queries and as many keys and values as L2 keeps: warm, they come from L2 at more than twice the rate.
// An eviction that does nothing makes both alike: 1.01 on an H200, and with it 1.08.
TEST_F(GpuTest, ColdIsSlowerThanWarm) {
  const auto backend = make_gpu_backend(options_);
  const DeviceProfile& device = backend->info().device;
  Problem p = problem_of(512);
  p.q_len = 16;
  p.heads = p.kv_heads = 2 * device.l2_bytes / 5 / (2 * p.kv_len * p.head_dim * 2);
  Case c = case_of(*find_variant("flash2"), p, device);
  double median_ns[2];
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    Status status;
    c.cache = cache;
    backend->prepare(c);
    EXPECT_EQ(backend->verify().verified, "yes");
    median_ns[cache == CacheState::warm] = *backend->time(status).median_ns;
  }
  RecordProperty("cold_over_warm", fmt::format("{:.3f}", median_ns[0] / median_ns[1]));
  EXPECT_GT(median_ns[0], 1.03 * median_ns[1]) << median_ns[0] << " ns cold, " << median_ns[1] << " ns warm";
}

TEST_F(GpuTest, TooLittleMemoryIsASkipWithBothNumbers) {
  const auto backend = make_gpu_backend(options_);
  Problem p = problem_of(32 * 1024);
  p.heads = p.kv_heads = 64, p.batch = 512;  // Q, K, V and O alone: over 500 GB
  try {
    backend->prepare(any_case(p, backend->info().device));
    FAIL() << "prepared";
  } catch (const CaseSkipped& skipped) {
    EXPECT_THAT(skipped.what(), AllOf(HasSubstr("needs "), HasSubstr(" are free")));
  }
  EXPECT_NO_THROW(backend->prepare(any_case(problem_of(64), backend->info().device)));
}

// Not a test of its own: what the child process of the next test runs, as a fault ends its context.
TEST_F(GpuTest, DISABLED_Fault) {
  use_broken_kernels();
  const auto backend = make_gpu_backend(options_);
  const Variant fault = broken_variant("fault");
  backend->prepare(case_of(fault, problem_of(64), backend->info().device));
  try {
    backend->verify();
  } catch (const DeviceLost& lost) {
    std::cout << "lost: " << lost.what() << std::endl;
  }
  std::_Exit(0);
}

TEST_F(GpuTest, AFaultIsThisCasesFailureAndSaysThatTheDeviceIsLost) {
  const std::string output = scratch_.path() / "output";
  run_program(own_disabled_test("GpuTest.DISABLED_Fault"), output);
  EXPECT_THAT(read_file(output), AllOf(HasSubstr("lost: "), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
}

}  // namespace
}  // namespace attnprof
