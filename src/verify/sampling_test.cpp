#include "verify/sampling.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

namespace attnprof {
namespace {

TEST(RowsToVerify, EverySliceOfTheOutput) {
  for (const auto& [batch, heads] : {std::tuple<int64_t, int64_t>{1, 1}, {1, 16}, {3, 8}}) {
    const Problem p{.batch = batch, .heads = heads, .kv_heads = 1, .q_len = 1000, .kv_len = 1000};
    const OperandList all = operands(p);
    const std::vector<SampledRow> rows = rows_to_verify(all[operand_o], 7, false);
    std::set<int64_t> slices;
    for (const SampledRow& row : rows) {
      slices.insert(row.slice);
      EXPECT_TRUE(row.row >= 0 && row.row < 1000);
    }
    EXPECT_EQ(slices.size(), static_cast<size_t>(batch * heads));
    for (const int64_t edge : {0, 999})
      EXPECT_NE(std::ranges::find(rows, edge, &SampledRow::row), rows.end()) << edge;
    EXPECT_GE(rows.size(), 64u);
    EXPECT_EQ(rows_to_verify(all[operand_o], 7, true).size(), static_cast<size_t>(batch * heads * 1000));
  }
}

// Whatever C++ library is built with: rel_err of two builds is of the same rows.
TEST(RowsToVerify, ASeedMeansTheSameRowsInEveryBuild) {
  const Problem p{.batch = 1, .heads = 1, .kv_heads = 1, .q_len = 1000, .kv_len = 1000};
  const std::vector<SampledRow> rows = rows_to_verify(operands(p)[operand_o], 7, false);
  ASSERT_GE(rows.size(), 5u);
  EXPECT_EQ(rows[1].row, 754);
  EXPECT_EQ(rows[2].row, 949);
  EXPECT_EQ(rows[3].row, 117);
  EXPECT_EQ(rows[4].row, 891);
}

// Rows of an output of keys are those of the kv heads.
TEST(RowsToVerify, FollowTheShapeOfTheOutput) {
  const Problem p{.batch = 2, .heads = 8, .kv_heads = 2, .q_len = 10, .kv_len = 30};
  const OperandList all = operands(p);
  EXPECT_EQ(rows_to_verify(all[operand_k], 7, true).size(), 2u * 2 * 30);
}

}  // namespace
}  // namespace attnprof
