// On a real GPU; skipped with the reason where there is none.
#include "measure/gpu/gpu_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

#include "lib/flash3_layout.h"
#include "measure/compile/run_program.hpp"
#include "measure/compile/scratch.hpp"
#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/prepare.hpp"
#include "measure/gpu/verify.hpp"
#include "roofline/schema.hpp"
#include "variants/flash3_prepare.hpp"
#include "variants/tiling.hpp"
#include "variants/variant_file.hpp"
#include "verify/rounding.hpp"

namespace attnprof {
namespace {
namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

// Variants of this test alone, whose kernel does what its name says instead of attention.
std::vector<Step> broken_steps(const Problem& p, const Tile& tile, const char* entry) {
  KernelLaunch kernel;
  kernel.file = "broken.cu";
  kernel.entry = entry;
  kernel.macros = kernel_macros(p, tile.br, tile.bc);
  kernel.threads = 32;
  return {Step{"attention", kernel, {}, true}};
}

constexpr const char* broken_source = R"(#include "attention_params.h"
extern "C" __global__ void untouched(const __grid_constant__ AttentionParams p) {}
extern "C" __global__ void fault(const __grid_constant__ AttentionParams p) { *reinterpret_cast<volatile int*>(16) = 1; }
extern "C" __global__ void beyond(const __grid_constant__ AttentionParams p) {
  if (threadIdx.x < 3) reinterpret_cast<char*>(p.o)[p.batch * p.o_strides.batch * 2 + threadIdx.x] = 1;
}
)";

Variant broken_variant(const char* name) {
  Variant variant = *all_variants().front();
  variant.name = name;
  variant.unsupported = [](const Problem&, const Tile&, const DeviceProfile&) {
    return std::optional<std::string>();
  };
  variant.default_tile = [](const Problem&, const DeviceProfile&) { return TileChoice{{16, 16}, ""}; };
  variant.workspace = [](const Problem&, const Tile&) { return std::vector<Operand>{}; };
  variant.steps = [name](const Problem& p, const Tile& t, const DeviceProfile&) {
    return broken_steps(p, t, name);
  };
  return variant;
}

Problem problem_of(int64_t length, Mask mask = Mask::full, Dtype dtype = Dtype::fp16) {
  Problem p;
  p.heads = 4, p.kv_heads = 2, p.head_dim = 64;
  p.q_len = p.kv_len = length;
  p.mask = mask;
  p.dtype = dtype;
  return p;
}

class GpuTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      driver();
      find_toolchain();
    } catch (const EnvironmentError& error) {
      GTEST_SKIP() << error.what();
    }
    static const ScratchDir shared_cache;  // kernels are compiled once for all tests
    options_.cache_dir = shared_cache.path();
    options_.kernels_dir = ATTNPROF_SOURCE_DIR "/kernels";
    options_.counters = CounterMode::off;
    options_.max_time_s = 0.1;
  }
  Case case_of(const Variant& variant, const Problem& problem, const DeviceProfile& device) {
    Case c;
    c.variant = &variant;
    c.problem = problem;
    c.tile = variant.default_tile(problem, device).tile;
    return c;
  }
  // The first variant that takes this problem.
  Case any_case(const Problem& problem, const DeviceProfile& device) {
    for (const Variant* variant : all_variants()) {
      const Case c = case_of(*variant, problem, device);
      const bool has_kernel =
          fs::exists(fs::path(options_.kernels_dir) / (std::string(variant->name) + ".cu"));
      if (has_kernel && !variant->unsupported(problem, c.tile, device)) return c;
    }
    throw std::logic_error("no variant takes the problem");
  }
  void use_broken_kernels() {
    const fs::path kernels = scratch_.path() / "kernels";
    fs::copy(options_.kernels_dir, kernels, fs::copy_options::recursive);
    std::ofstream(kernels / "broken.cu") << broken_source;
    options_.kernels_dir = kernels;
  }
  MeasureOptions options_;
  ScratchDir scratch_;
};

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

TEST_F(GpuTest, EveryVariantIsRight) {
  const auto backend = make_gpu_backend(options_);
  for (const Variant* variant : all_variants())
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
        for (const int64_t length : {1, 129}) {
          const Case c = case_of(*variant, problem_of(length, mask, dtype), backend->info().device);
          if (variant->unsupported(c.problem, c.tile, backend->info().device)) continue;
          Build build;
          try {
            build = backend->prepare(c);
          } catch (const CaseSkipped& skipped) {  // no cuBLAS here
            std::cout << skipped.what() << "\n";
            continue;
          }
          EXPECT_GE(*build.launches, 1) << describe(c);
          EXPECT_EQ(build.kernel_hash.size(), 16u) << describe(c);
          const Verification verification = backend->verify();
          EXPECT_EQ(verification.verified, "yes") << describe(c) << " " << verification.rel_err.value_or(-1);
        }
}

TEST_F(GpuTest, FullVerificationChecksEveryRow) {
  options_.verify = VerifyMode::full;
  const auto backend = make_gpu_backend(options_);
  Problem p = problem_of(100, Mask::causal);
  p.kv_len = 77;  // the first rows see no key
  backend->prepare(any_case(p, backend->info().device));
  EXPECT_EQ(backend->verify().verified, "yes");
}

TEST_F(GpuTest, AnUntouchedOutputIsIncorrect) {
  use_broken_kernels();
  const auto backend = make_gpu_backend(options_);
  const Variant untouched = broken_variant("untouched");
  backend->prepare(case_of(untouched, problem_of(64), backend->info().device));
  const Verification verification = backend->verify();
  EXPECT_EQ(verification.verified, "no");
  EXPECT_FALSE(verification.rel_err);
}

TEST_F(GpuTest, AWriteBesideAnOperandOfAUsersOwnVariantIsAFailedCase) {
  use_broken_kernels();
  const auto backend = make_gpu_backend(options_);
  Variant beyond = broken_variant("beyond");
  beyond.origin = "mine.json";
  backend->prepare(case_of(beyond, problem_of(64), backend->info().device));
  try {
    backend->verify();
    FAIL() << "was taken";
  } catch (const CaseFailed& failed) {
    EXPECT_THAT(failed.what(), HasSubstr("wrote 3 bytes beyond O, which has 32768 bytes"));
  }
}

TEST_F(GpuTest, TheExampleOfAVariantFileIsRight) {
  const auto backend = make_gpu_backend(options_);
  const Variant example = load_variant_file(ATTNPROF_SOURCE_DIR "/kernels/example/example.json");
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16})
      for (const int64_t length : {1, 129, 1000}) {
        Problem p = problem_of(length, mask, dtype);
        p.q_len = length + 30;  // causal: the first rows see no key
        backend->prepare(case_of(example, p, backend->info().device));
        EXPECT_EQ(backend->verify().verified, "yes") << length;
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

TEST_F(GpuTest, ColdIsNotFasterThanWarm) {
  const auto backend = make_gpu_backend(options_);
  Case c = any_case(problem_of(1024), backend->info().device);
  double median_ns[2];
  for (const CacheState cache : {CacheState::cold, CacheState::warm}) {
    Status status;
    c.cache = cache;
    backend->prepare(c);
    backend->verify();
    median_ns[cache == CacheState::warm] = *backend->time(status).median_ns;
  }
  EXPECT_GT(median_ns[0], 0.98 * median_ns[1]);
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

TEST_F(GpuTest, InputsOnTheDeviceAreTheHostsBits) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  constexpr int64_t count = 100'000;
  std::vector<Operand> inputs = {{"scale", Role::input, Init::scale, Dtype::fp32, 25, 40, 1, 1, 1}};
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    inputs.push_back({"Q", Role::input, Init::random, dtype, 1, 1, count, 1, 1});
  for (const InputKind kind : {InputKind::normal, InputKind::outliers})
    for (const Operand& operand : inputs) {
      const DeviceBuffer buffer(operand.bytes());
      gpu.harness().fill_input(buffer, operand, 2, {42, kind}, gpu.stream());
      std::vector<char> device(static_cast<size_t>(operand.bytes())), host(device);
      buffer.download(device.data(), operand.bytes(), gpu.stream());
      const std::vector<float> elements = input_elements(operand, 2, {42, kind}, 0, operand.elements());
      for (size_t i = 0; i < elements.size(); ++i)
        store_element(operand.dtype, host.data(), static_cast<int64_t>(i), elements[i]);
      EXPECT_EQ(device, host) << to_string(operand.dtype) << " " << to_string(kind);
    }
}

// The output is untouched, and so incorrect; but both references agree, or this would throw.
TEST_F(GpuTest, BothReferencesAgreeOnFp8) {
  use_broken_kernels();
  const Variant untouched = broken_variant("untouched");
  for (const InputKind kind : {InputKind::normal, InputKind::outliers}) {
    options_.input = kind;
    const auto backend = make_gpu_backend(options_);
    for (const Mask mask : {Mask::full, Mask::causal}) {
      backend->prepare(case_of(untouched, problem_of(129, mask, Dtype::fp8), backend->info().device));
      EXPECT_EQ(backend->verify().verified, "no");
    }
  }
}

TEST_F(GpuTest, VIsTransposedByteForByte) {
  use_broken_kernels();
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  Variant transposes = broken_variant("untouched");
  transposes.workspace = [](const Problem& p, const Tile&) { return std::vector{transposed_v(p)}; };
  transposes.steps = [](const Problem& p, const Tile& t, const DeviceProfile&) {
    std::vector<Step> steps = broken_steps(p, t, "untouched");
    steps.push_back(transpose_v_step(p, operand_v, first_workspace(p), false));
    return steps;
  };
  for (const int64_t head_dim : {64, 96, 128, 192, 256})
    for (const int64_t kv_len : {1, 31, 128, 333}) {
      Problem p = problem_of(kv_len, Mask::full, Dtype::fp8);
      p.batch = 2, p.head_dim = head_dim;
      const PreparedCase prepared(case_of(transposes, p, gpu.profile()), {7}, gpu, compiler);
      prepared.reset();
      const Operand v = operands(p)[operand_v], vt = transposed_v(p);
      std::vector<uint8_t> from(static_cast<size_t>(v.bytes())), to(static_cast<size_t>(vt.bytes())),
          expected(to.size(), 0);
      prepared.buffer(operand_v).download(from.data(), v.bytes(), gpu.stream());
      prepared.buffer(first_workspace(p)).download(to.data(), vt.bytes(), gpu.stream());
      for (int64_t slice = 0; slice < v.slices(); ++slice)
        for (int64_t key = 0; key < kv_len; ++key)
          for (int64_t c = 0; c < head_dim; ++c)
            expected[static_cast<size_t>((slice * head_dim + c) * vt.row_pitch +
                                         v_column(static_cast<int>(key)))] =
                from[static_cast<size_t>((slice * kv_len + key) * head_dim + c)];
      EXPECT_EQ(to, expected) << head_dim << " " << kv_len;
    }
}

TEST_F(GpuTest, WrongInputsCannotHide) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  const PreparedCase prepared(any_case(problem_of(64), gpu.profile()), {7}, gpu, compiler);
  EXPECT_EQ(verify_output(prepared, gpu, VerifyMode::sampled).verified, "yes");
  prepared.buffer(operand_k).fill(0, gpu.stream());
  EXPECT_THROW(verify_output(prepared, gpu, VerifyMode::sampled), CaseFailed);
}

TEST_F(GpuTest, CopiesAndFillsDoWhatTheySay) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  constexpr int64_t bytes = 3 * 1024 * copy_bulk_chunk_bytes;
  const DeviceBuffer source(bytes), target(bytes);
  gpu.harness().fill_random(source, bytes / 4, Dtype::fp32, {}, 0, gpu.stream());
  std::vector<uint32_t> from(bytes / 4), to(bytes / 4);
  source.download(from.data(), bytes, gpu.stream());
  const auto fetch = [&] { target.download(to.data(), bytes, gpu.stream()); };
  gpu.harness().fill_plain(target, bytes, 0xABCDEF01u, gpu.stream());
  fetch();
  EXPECT_THAT(to, testing::Each(0xABCDEF01u));
  gpu.harness().copy_plain(source, target, bytes, gpu.stream());
  fetch();
  EXPECT_EQ(to, from);
  if (!gpu.has_bulk_copy()) return;
  target.fill(0, gpu.stream());
  gpu.harness().copy_bulk(source, target, bytes, gpu.stream());
  fetch();
  EXPECT_EQ(to, from);
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
  run_program({fs::read_symlink("/proc/self/exe").string(), "--gtest_also_run_disabled_tests",
               "--gtest_filter=GpuTest.DISABLED_Fault"},
              output);
  EXPECT_THAT(read_file(output), AllOf(HasSubstr("lost: "), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS")));
}

}  // namespace
}  // namespace attnprof
