#include "problem/operands.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

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
  ASSERT_EQ(tensors.size(), 7u);
  EXPECT_EQ(tensors[operand_k].bytes(), 2 * 2 * 300 * 128);
  EXPECT_EQ(tensors[operand_o].dtype, ElementType::bf16);
  EXPECT_EQ(tensors[operand_q_scale].name, "q_scale");
  EXPECT_EQ(tensors[operand_q_scale].bytes(), 2 * 8 * 4);
  EXPECT_EQ(tensors[operand_v_scale].name, "v_scale");
  EXPECT_EQ(tensors[operand_v_scale].bytes(), 2 * 2 * 4);
  EXPECT_EQ(tensors[operand_v_scale].dtype, ElementType::fp32);
  EXPECT_EQ(io_lower_bound_bytes(p),
            2 * 8 * 100 * 128 * (1 + 2) + 2 * 2 * 2 * 300 * 128 + 4 * (2 * 8 + 2 * 2 * 2));
}

TEST(Operands, OfAForwardPassAreFour) {
  Problem p;
  p.q_len = p.kv_len = 64;
  for (const Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16}) {
    p.dtype = dtype;
    EXPECT_EQ(operands(p).size(), 4u);
    EXPECT_EQ(operands(p)[operand_o].dtype, element_of(dtype));
  }
}

Operand small(OperandId id = operand_ids) {
  return {"small", Role::workspace, Init::zero, ElementType::int32, 1, 1, 1, 8, 8, id};
}

TEST(OperandList, FindsByIdWhateverTheOrder) {
  OperandList list;
  list.add(small(operand_o));
  list.add_workspace(small());
  list.add(small(operand_q));
  list.add_workspace(small());
  EXPECT_EQ(list.size(), 4u);
  EXPECT_EQ(list.place(operand_q), 2u);
  EXPECT_EQ(list[workspace_id(1)].id, workspace_id(1));
  EXPECT_EQ(list.place(workspace_id(1)), 3u);
  EXPECT_FALSE(list.has(operand_k));
  EXPECT_THROW(list[operand_k], std::out_of_range);
  EXPECT_EQ(workspace_bytes(list), 4 * 8 * 4);
}

TEST(OperandList, TakesEachIdOnceAndSoManyWorkspaces) {
  OperandList list = {small(operand_o)};
  EXPECT_THROW(list.add(small(operand_o)), std::logic_error);
  EXPECT_THROW(list.add(small()), std::logic_error) << "has no id";
  for (int i = 0; i < attention_max_workspaces; ++i) list.add_workspace(small());
  EXPECT_THROW(list.add_workspace(small()), std::length_error);
  EXPECT_TRUE(list.has(workspace_id(attention_max_workspaces - 1)));
}

}  // namespace
}  // namespace attnprof
