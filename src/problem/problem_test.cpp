#include "problem/problem.hpp"

#include <gtest/gtest.h>

#include "problem/flops.hpp"

namespace attnprof {
namespace {

Problem problem_of(Mask mask, int64_t q_len, int64_t kv_len) {
  Problem problem;
  problem.mask = mask;
  problem.q_len = q_len;
  problem.kv_len = kv_len;
  return problem;
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

TEST(Problem, ElementTypesAreWords) {
  using enum ElementType;
  for (const ElementType type : {fp32, fp16, bf16, e4m3, int32})
    EXPECT_EQ(parse_element_type(to_string(type)), type);
  EXPECT_EQ(parse_element_type("fp8"), e4m3);
  EXPECT_EQ(parse_element_type("int8"), std::nullopt);
  EXPECT_EQ(bytes_per_element(int32), 4);
}

TEST(Problem, DtypesAreWords) {
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
  EXPECT_EQ(parse_dtype("e4m3"), Dtype::fp8);
  EXPECT_EQ(parse_dtype("fp4"), std::nullopt);
  EXPECT_EQ(bytes_per_element(Dtype::fp8), 1);
  EXPECT_EQ(output_element(Dtype::fp8), ElementType::bf16);
  EXPECT_EQ(output_element(Dtype::fp16), ElementType::fp16);
}

}  // namespace
}  // namespace attnprof
