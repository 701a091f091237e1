#include "model/numeric_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "lib/random_value.h"
#include "problem/rounding.hpp"

namespace attnprof {
namespace {

NumericMachine machine_of(uint64_t seed) {
  return NumericMachine(
      {{"Q", Role::input, Init::random, ElementType::fp16, 2, 3, 10, 16, 16, operand_q},
       {"O", Role::output, Init::poison, ElementType::bf16, 2, 3, 10, 16, 24, operand_o},
       {"l", Role::workspace, Init::zero, ElementType::fp32, 2, 3, 10, 1, 1, operand_workspace}},
      {seed});
}

TEST(NumericMachine, InputsAreTheSharedRandomValuesRounded) {
  const NumericMachine machine = machine_of(42);
  const float expected = round_to(ElementType::fp16, attnprof_random_value(42, 0, (5 * 10 + 7) * 16 + 3));
  EXPECT_EQ(machine.rows(operand_q, 5, 7, 1)[3], expected);
  EXPECT_NE(machine_of(43).rows(operand_q, 5, 7, 1)[3], expected);
}

TEST(NumericMachine, OutputsArePoisonedUntilWritten) {
  NumericMachine machine = machine_of(1);
  EXPECT_TRUE(std::isnan(machine.rows(operand_o, 0, 0, 1)[0]));
  EXPECT_EQ(machine.rows(operand_workspace, 0, 0, 1)[0], 0);
  machine.write({operand_o, 2, 4, 2, 8, 4}, {2, 4, {1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_EQ(machine.rows(operand_o, 2, 5, 1)[9], 6);
  EXPECT_TRUE(std::isnan(machine.rows(operand_o, 2, 5, 1)[7]));
  const TileValues back = machine.read({operand_o, 2, 4, 2, 8, 4});
  EXPECT_EQ(back.at(1, 3), 8);
  EXPECT_EQ(back.rows * back.cols, static_cast<int64_t>(back.values.size()));
}

TEST(NumericMachine, WritesRoundToTheOperandsDtype) {
  NumericMachine machine = machine_of(1);
  const float value = 1.0f + std::ldexp(1.0f, -10);
  machine.write({operand_o, 0, 0, 1, 0, 1}, {1, 1, {value}});
  machine.write({operand_workspace, 0, 0, 1, 0, 1}, {1, 1, {value}});
  EXPECT_EQ(machine.rows(operand_o, 0, 0, 1)[0], 1.0f) << "bf16 has 8 bits";
  EXPECT_EQ(machine.rows(operand_workspace, 0, 0, 1)[0], value);
}

TEST(NumericMachine, AdditionsAreSumsRoundedToTheOperandsType) {
  NumericMachine machine = machine_of(1);
  for (const float value : {1.0f, 2.5f})
    machine.add({operand_workspace, 3, 2, 2, 0, 1}, {2, 1, {value, -value}});
  EXPECT_EQ(machine.rows(operand_workspace, 3, 2, 1)[0], 3.5f);
  EXPECT_EQ(machine.rows(operand_workspace, 3, 3, 1)[0], -3.5f);
  EXPECT_EQ(machine.rows(operand_workspace, 3, 4, 1)[0], 0);
  machine.write({operand_o, 0, 0, 1, 0, 1}, {1, 1, {256}});
  machine.add({operand_o, 0, 0, 1, 0, 1}, {1, 1, {1}});
  EXPECT_EQ(machine.rows(operand_o, 0, 0, 1)[0], 256.0f) << "bf16 has 8 bits";
  EXPECT_THROW(machine.add({operand_o, 0, 9, 2, 0, 1}, {2, 1, {1, 1}}), std::logic_error);
}

TEST(NumericMachine, MemsetsFillBytes) {
  NumericMachine machine = machine_of(1);
  machine.fill({.operand = operand_o, .value = 0});
  EXPECT_EQ(machine.rows(operand_o, 5, 9, 1)[15], 0);
  machine.fill({.operand = operand_workspace, .value = 0xFF});
  EXPECT_TRUE(std::isnan(machine.rows(operand_workspace, 5, 9, 1)[0]));
}

TEST(NumericMachine, ARegionOutsideItsOperandIsAnError) {
  NumericMachine machine = machine_of(1);
  EXPECT_THROW(machine.read({operand_q, 0, 8, 4, 0, 16}), std::logic_error);
  EXPECT_THROW(machine.read({operand_q, 6, 0, 1, 0, 16}), std::logic_error);
  EXPECT_THROW(machine.write({operand_o, 0, 0, 2, 0, 16}, {1, 16, std::vector<float>(16)}), std::logic_error);
}

}  // namespace
}  // namespace attnprof
