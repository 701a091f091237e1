// What the GPU backend takes for right and wrong.
#include <dlfcn.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "base/run_program.hpp"
#include "measure/gpu/cuda_paths.hpp"
#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/gpu_fixture.hpp"
#include "measure/gpu/prepare.hpp"
#include "measure/gpu/verify.hpp"
#include "plugin/variant_file.hpp"
#include "test_paths.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

bool has_cublas() {
  for (const char* file : {"libcublas.so.13", "libcublas.so.12"})
    for (const std::string& path : cuda_library_paths(file))
      if (dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) return true;
  return false;
}

// A case is left out for want of cuBLAS alone, and then the test is no success.
TEST_F(GpuTest, EveryVariantIsRight) {
  const auto backend = make_gpu_backend(options_);
  std::string lacking;
  for (const Variant* variant : all_variants())
    for (const Mask mask : {Mask::full, Mask::causal})
      for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
        for (const int64_t length : {1, 129}) {
          const Case c = case_of(*variant, problem_of(length, mask, dtype), backend->info().device);
          if (variant->unsupported(c.problem, c.tile, backend->info().device)) continue;
          Build build;
          try {
            build = backend->prepare(c);
          } catch (const CaseSkipped& skipped) {
            ASSERT_FALSE(has_cublas()) << describe(c) << ": " << skipped.what();
            lacking = skipped.what();
            continue;
          }
          EXPECT_GE(*build.launches, 1) << describe(c);
          EXPECT_EQ(build.kernel_hash.size(), 16u) << describe(c);
          const Verification verification = backend->verify();
          EXPECT_EQ(verification.verified, "yes") << describe(c) << " " << verification.rel_err.value_or(-1);
        }
  if (!lacking.empty()) skip_or_fail(lacking);
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

TEST_F(GpuTest, AWriteBesideAnOperandIsAFailedCase) {
  use_broken_kernels();
  const auto backend = make_gpu_backend(options_);
  Variant beyond = broken_variant("beyond");
  for (const char* origin : {"", "mine.json"}) {
    beyond.origin = origin;
    backend->prepare(case_of(beyond, problem_of(64), backend->info().device));
    try {
      backend->verify();
      FAIL() << "was taken";
    } catch (const CaseFailed& failed) {
      EXPECT_THAT(failed.what(), HasSubstr("wrote 3 bytes beyond O, which has 32768 bytes"));
    }
  }
}

// Nothing is checked, but a user's own code is still told of what it wrote beside an operand.
TEST_F(GpuTest, AUsersOwnVariantHasBandsWhereItIsTimed) {
  use_broken_kernels();
  options_.verify = VerifyMode::off;
  const auto backend = make_gpu_backend(options_);
  Variant beyond = broken_variant("beyond");
  beyond.origin = "mine.json";
  backend->prepare(case_of(beyond, problem_of(64), backend->info().device));
  EXPECT_THROW(backend->verify(), CaseFailed);
}

// The example with a kernel whose scores have 0 times `element` added: a number leaves them as they are.
Variant example_that_reads(const std::string& element, const std::filesystem::path& folder) {
  const std::filesystem::path example = ATTNPROF_SOURCE_DIR "/kernels/example";
  std::filesystem::create_directories(folder);
  std::filesystem::copy(example / "example.json", folder);
  std::string source = read_file(example / "example.cu");
  const std::string sum = "s = sum_over_warp(s)";
  source.replace(source.find(sum), sum.size(), sum + " + 0 * float(" + element + ")");
  std::ofstream(folder / "example.cu") << source;
  return load_variant_file(folder / "example.json");
}

TEST_F(GpuTest, AReadBesideAnOperandIsIncorrect) {
  const std::pair<const char*, const char*> reads[] = {{"k[lane]", "yes"},
                                                       {"k[p.kv_len * k_stride + lane]", "no"},
                                                       {"v[p.kv_len * v_stride + lane]", "no"},
                                                       {"k[lane - HEAD_DIM]", "no"},
                                                       {"v[lane - HEAD_DIM]", "no"}};
  const auto backend = make_gpu_backend(options_);
  int folder = 0;
  for (const auto& [element, verified] : reads)
    for (const Dtype dtype : {Dtype::fp16, Dtype::bf16}) {
      const Variant reads_beside = example_that_reads(element, scratch_.path() / std::to_string(folder++));
      backend->prepare(case_of(reads_beside, problem_of(64, Mask::full, dtype), backend->info().device));
      EXPECT_EQ(backend->verify().verified, verified) << element;
    }
}

// After verifying, the operands are where they are timed, filled and ready to run.
TEST_F(GpuTest, VerifyingLeavesTheCaseReadyToRun) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  PreparedCase prepared(any_case(problem_of(64), gpu.profile()), {7}, gpu, compiler);
  const void* const k = prepared.buffer(operand_k).get();
  prepared.enter_guards();
  EXPECT_NE(prepared.buffer(operand_k).get(), k);
  EXPECT_EQ(verify_output(prepared, gpu, VerifyMode::sampled).verified, "yes");
  prepared.leave_guards();
  EXPECT_EQ(prepared.buffer(operand_k).get(), k);
  EXPECT_EQ(verify_output(prepared, gpu, VerifyMode::sampled).verified, "yes");
}

// Its operands need more than half of the memory: there is no room for a second copy of them.
TEST_F(GpuTest, VerifiesWhatFitsTheMemoryOnlyOnce) {
  const auto backend = make_gpu_backend(options_);
  Problem p = problem_of(256);
  p.heads = p.kv_heads = 64;
  p.batch = 6 * backend->info().free_bytes / 10 / total_bytes(operands(p));
  backend->prepare(case_of(*find_variant("flash2"), p, backend->info().device));
  EXPECT_EQ(backend->verify().verified, "yes");
  Status status;
  EXPECT_GT(backend->time(status).median_ns, 0);
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

TEST_F(GpuTest, WrongInputsCannotHide) {
  KernelCompiler compiler(compile_options(options_));
  GpuDevice gpu(0, compiler);
  const PreparedCase prepared(any_case(problem_of(64), gpu.profile()), {7}, gpu, compiler);
  EXPECT_EQ(verify_output(prepared, gpu, VerifyMode::sampled).verified, "yes");
  prepared.buffer(operand_k).fill(0, gpu.stream());
  EXPECT_THROW(verify_output(prepared, gpu, VerifyMode::sampled), CaseFailed);
}

}  // namespace
}  // namespace attnprof
