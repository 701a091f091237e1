#include "problem/operands.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

TEST(Operands, KeysAndValuesAreSizedByKvHeads) {
  Problem p;
  p.batch = 2, p.heads = 32, p.kv_heads = 4, p.q_len = 1, p.kv_len = 4096, p.head_dim = 128;
  const auto tensors = operands(p);
  EXPECT_EQ(tensors[operand_k].bytes(), 2 * 4 * 4096 * 128 * 2);
  EXPECT_EQ(tensors[operand_q].bytes(), 2 * 32 * 1 * 128 * 2);
  EXPECT_EQ(io_lower_bound_bytes(p), 2 * (tensors[operand_k].bytes() + tensors[operand_q].bytes()));
}

TEST(Operands, DecodeLowerBoundIsDominatedByTheKvCache) {
  Problem p;
  p.q_len = 1, p.kv_len = 8192;
  const auto tensors = operands(p);
  EXPECT_GT(tensors[operand_k].bytes() + tensors[operand_v].bytes(), 0.99 * io_lower_bound_bytes(p));
}

TEST(Operands, Fp8HasScalesAndA16BitOutput) {
  Problem p;
  p.dtype = Dtype::fp8;
  p.batch = 2, p.heads = 8, p.kv_heads = 2, p.q_len = 100, p.kv_len = 300, p.head_dim = 128;
  const auto tensors = operands(p);
  ASSERT_EQ(tensors.size(), static_cast<size_t>(first_workspace(p)));
  EXPECT_EQ(tensors[operand_k].bytes(), 2 * 2 * 300 * 128);
  EXPECT_EQ(tensors[operand_o].dtype, Dtype::bf16);
  EXPECT_EQ(tensors[operand_q_scale].name, "q_scale");
  EXPECT_EQ(tensors[operand_q_scale].bytes(), 2 * 8 * 4);
  EXPECT_EQ(tensors[operand_v_scale].name, "v_scale");
  EXPECT_EQ(tensors[operand_v_scale].bytes(), 2 * 2 * 4);
  EXPECT_EQ(tensors[operand_v_scale].dtype, Dtype::fp32);
  EXPECT_EQ(io_lower_bound_bytes(p),
            2 * 8 * 100 * 128 * (1 + 2) + 2 * 2 * 2 * 300 * 128 + 4 * (2 * 8 + 2 * 2 * 2));
}

TEST(Operands, TheWorkspaceFollows) {
  Problem p;
  p.q_len = p.kv_len = 64;
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    p.dtype = dtype;
    EXPECT_EQ(operands(p).size(), static_cast<size_t>(first_workspace(p)));
    EXPECT_EQ(operands(p)[operand_o].dtype, dtype);
    EXPECT_EQ(first_workspace(p), operand_workspace);
  }
}

}  // namespace
}  // namespace attnprof
