#include "plan/operands.hpp"

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

}  // namespace
}  // namespace attnprof
