#include "model/counting_machine.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

Operand tensor(OperandId id, ElementType type, int64_t rows, int64_t cols, int64_t pitch) {
  const Role role = id < operand_workspace ? Role::input : Role::workspace;
  return {"tensor", role, Init::zero, type, 1, 2, rows, cols, pitch, id};
}

TEST(SectorBytes, WholeRowsAreOneRun) {
  const Operand q = tensor(operand_q, ElementType::fp16, 1000, 64, 64);
  EXPECT_EQ(sector_bytes(q, {q.id, 0, 0, 64, 0, 64}), 64 * 64 * 2);
  EXPECT_EQ(sector_bytes(q, {q.id, 1, 960, 40, 0, 64}), 40 * 64 * 2);
}

TEST(SectorBytes, RunsAreRoundedOutToSectors) {
  const Operand s = tensor(workspace_id(0), ElementType::fp16, 129, 129, 144);
  EXPECT_EQ(sector_bytes(s, {s.id, 0, 0, 1, 0, 129}), 288) << "258 B start on a sector, end in the ninth";
  EXPECT_EQ(sector_bytes(s, {s.id, 0, 0, 10, 8, 16}), 10 * 64) << "32 B across a sector border";
  const Operand odd = tensor(workspace_id(0), ElementType::fp16, 129, 129, 129);
  int64_t bytes = 0;
  for (int64_t row = 0; row < 10; ++row) bytes += sector_bytes(odd, {odd.id, 0, row, 1, 0, 64});
  EXPECT_EQ(sector_bytes(odd, {odd.id, 0, 0, 10, 0, 64}), bytes) << "rows that start anywhere";
  EXPECT_GT(bytes, 10 * 128);
}

TEST(SectorBytes, AnEmptyRegionIsFree) {
  const Operand q = tensor(operand_q, ElementType::fp32, 10, 16, 16);
  EXPECT_EQ(sector_bytes(q, {q.id, 0, 10, 0, 0, 16}), 0);
}

TEST(CountingMachine, SortsTrafficAndOperations) {
  Operand scores = tensor(workspace_id(0), ElementType::fp16, 64, 64, 64);
  scores.is_score_matrix = true;
  const OperandList operands = {tensor(operand_q, ElementType::fp16, 64, 64, 64), scores,
                                tensor(workspace_id(1), ElementType::fp32, 64, 1, 1)};
  CountingMachine machine(operands);
  std::vector<Access> trace;
  EXPECT_TRUE(machine.read({operand_q, 0, 0, 64, 0, 64}).values.empty());
  machine.record_into(&trace);
  machine.write({workspace_id(0), 1, 0, 64, 32, 32}, {});
  machine.record_into(nullptr);
  machine.write({workspace_id(1), 0, 0, 64, 0, 1}, {});
  machine.record_into(&trace);
  machine.add({workspace_id(1), 0, 0, 32, 0, 1}, {});
  machine.execute(Unit::tensor, 5);
  machine.execute(Unit::fma, 6);
  machine.execute(Unit::exp, 7);
  const SmTraffic& t = machine.traffic();
  EXPECT_EQ(t.read_bytes, 64 * 64 * 2);
  EXPECT_EQ(t.write_bytes, 64 * 64 + 64 * 4 + 32 * 4);
  EXPECT_EQ(t.intermediate_bytes, 64 * 64) << "S, not the row sums";
  EXPECT_EQ(t.tensor_flops, 5);
  EXPECT_EQ(t.fma_flops, 6);
  EXPECT_EQ(t.exponentials, 7);
  EXPECT_EQ(t.accesses, 4);
  ASSERT_EQ(trace.size(), 2u);
  EXPECT_EQ(trace[0].kind, AccessKind::write);
  EXPECT_EQ(trace[1].kind, AccessKind::reduce);
  EXPECT_EQ(trace[0].slice, 1);
  EXPECT_EQ(trace[0].col, 32);
}

}  // namespace
}  // namespace attnprof
