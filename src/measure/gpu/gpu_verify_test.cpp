// What the GPU backend takes for right and wrong.
#include <iostream>

#include "measure/gpu/gpu_device.hpp"
#include "measure/gpu/gpu_fixture.hpp"
#include "measure/gpu/prepare.hpp"
#include "measure/gpu/verify.hpp"
#include "test_paths.hpp"
#include "variants/variant_file.hpp"

namespace attnprof {
namespace {

using testing::HasSubstr;

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
