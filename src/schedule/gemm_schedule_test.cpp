#include "schedule/gemm_schedule.hpp"

#include <gtest/gtest.h>

#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

// Two products C [m, n] = 2 op(A) op(B) + beta C, with fp32 numbers. `stacked`: the rows of A and C are those
// of two slices each.
struct Given {
  GemmLaunch gemm;
  OperandList operands;
};

Given given(bool transpose_a, bool transpose_b, float beta, int64_t stacked) {
  constexpr int64_t m = 150, n = 140, k = 130, count = 2;
  const auto matrix = [&](const char* name, OperandId id, int64_t rows, int64_t cols, int64_t slices) {
    return Operand{name, Role::input, Init::random, ElementType::fp32, count, slices, rows / slices, cols,
                   cols, id};
  };
  const int64_t a_rows = transpose_a ? k : m, a_cols = transpose_a ? m : k;
  const int64_t b_rows = transpose_b ? n : k, b_cols = transpose_b ? k : n;
  return {{.m = m,
           .n = n,
           .k = k,
           .count = count,
           .transpose_a = transpose_a,
           .transpose_b = transpose_b,
           .alpha = 2,
           .beta = beta,
           .a = operand_q,
           .b = operand_k,
           .c = operand_o},
          {matrix("A", operand_q, a_rows, a_cols, stacked), matrix("B", operand_k, b_rows, b_cols, 1),
           matrix("C", operand_o, m, n, stacked)}};
}

// Element (row, col) of matrix `number`, as rows lie one after another.
float element(const TestMachine& machine, const OperandList& ops, OperandId id, int64_t number, int64_t row,
              int64_t col) {
  const Operand& o = ops[id];
  const int64_t per_product = o.heads, slice = number * per_product + row / o.rows;
  return machine.slice(id, slice)[static_cast<size_t>(row % o.rows * o.row_pitch + col)];
}

TEST(GemmSchedule, MultipliesAsTheLaunchSays) {
  for (const bool transpose_a : {false, true})
    for (const bool transpose_b : {false, true})
      for (const float beta : {0.0f, 0.5f})
        for (const int64_t stacked : {1, 2}) {
          const auto [gemm, ops] = given(transpose_a, transpose_b, beta, stacked);
          const TestMachine before(ops, true);
          TestMachine machine(ops, true);
          const Schedule schedule = gemm_schedule(gemm, ops);
          for (int64_t cta = 0; cta < schedule.ctas; ++cta) schedule.run(cta, machine);
          for (int64_t number = 0; number < gemm.count; ++number)
            for (const auto& [row, col] :
                 {std::pair<int64_t, int64_t>{0, 0}, {149, 139}, {80, 3}, {127, 128}}) {
              double sum = 0;
              for (int64_t i = 0; i < gemm.k; ++i)
                sum += static_cast<double>(element(before, ops, gemm.a, number, transpose_a ? i : row,
                                                   transpose_a ? row : i)) *
                       element(before, ops, gemm.b, number, transpose_b ? col : i, transpose_b ? i : col);
              const double expected = 2 * sum + beta * element(before, ops, gemm.c, number, row, col);
              EXPECT_NEAR(element(machine, ops, gemm.c, number, row, col), expected, 1e-3)
                  << transpose_a << transpose_b << beta << " " << stacked << " " << row << " " << col;
            }
        }
}

TEST(GemmSchedule, ReadsCOnlyToAddToIt) {
  for (const float beta : {0.0f, 1.0f}) {
    const auto [gemm, ops] = given(true, false, beta, 1);
    TestMachine machine(ops, false);
    const Schedule schedule = gemm_schedule(gemm, ops);
    for (int64_t cta = 0; cta < schedule.ctas; ++cta) schedule.run(cta, machine);
    EXPECT_EQ(machine.traffic.read.count("C"), beta > 0 ? 1u : 0u);
    EXPECT_EQ(machine.traffic.written["C"], 2 * 150 * 140 * 4);
    EXPECT_EQ(machine.traffic.read["A"], 2 * 2 * 130 * 150 * 4) << "once for each of two columns of tiles";
  }
}

}  // namespace
}  // namespace attnprof
