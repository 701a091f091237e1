#include "problem/problem.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

Problem problem_of(Mask mask, int64_t q_len, int64_t kv_len) {
  Problem problem;
  problem.mask = mask;
  problem.q_len = q_len;
  problem.kv_len = kv_len;
  return problem;
}

int64_t brute_force_pairs(const Problem& p) {
  int64_t pairs = 0;
  for (int64_t i = 0; i < p.q_len; ++i)
    for (int64_t j = 0; j < p.kv_len; ++j)
      if (p.mask == Mask::full || j <= i + p.kv_len - p.q_len) ++pairs;
  return pairs;
}

TEST(Problem, UnmaskedPairsEqualABruteForceCount) {
  for (Mask mask : {Mask::full, Mask::causal})
    for (auto [q, k] :
         {std::pair<int64_t, int64_t>{1, 1}, {128, 1024}, {1024, 128}, {1, 4096}, {129, 129}, {7, 3}})
      EXPECT_EQ(unmasked_pairs(problem_of(mask, q, k)), brute_force_pairs(problem_of(mask, q, k)))
          << q << " x " << k;
}

TEST(Problem, VisibleKeysSumToPairs) {
  const Problem problem = problem_of(Mask::causal, 100, 37);
  int64_t sum = 0;
  for (int64_t i = 0; i < problem.q_len; ++i) sum += visible_keys(problem, i);
  EXPECT_EQ(sum, unmasked_pairs(problem));
}

TEST(Problem, OneTokenCausalEqualsFull) {
  EXPECT_EQ(useful_flops(problem_of(Mask::causal, 1, 1)), useful_flops(problem_of(Mask::full, 1, 1)));
}

TEST(Problem, FlopsGoByQueryHeads) {
  Problem problem = problem_of(Mask::full, 64, 64);
  const int64_t flops = useful_flops(problem);
  problem.kv_heads = 2;
  EXPECT_EQ(useful_flops(problem), flops);
  EXPECT_EQ(flops, 4 * 64 * 64 * 64 * 16);
}

TEST(Problem, HalfSquareIsHalfOfFullForCausal) {
  EXPECT_EQ(half_square_flops(problem_of(Mask::causal, 512, 512)) * 2,
            half_square_flops(problem_of(Mask::full, 512, 512)));
}

TEST(Problem, DtypesAreWords) {
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  EXPECT_EQ(parse_dtype("e4m3"), Dtype::fp8);
  EXPECT_EQ(parse_dtype("fp4"), std::nullopt);
  EXPECT_EQ(bytes_per_element(Dtype::fp8), 1);
  EXPECT_EQ(output_dtype(Dtype::fp8), Dtype::bf16);
  EXPECT_EQ(output_dtype(Dtype::fp16), Dtype::fp16);
}

}  // namespace
}  // namespace attnprof
