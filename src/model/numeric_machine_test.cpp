#include "model/numeric_machine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "lib/random_value.h"
#include "problem/rounding.hpp"

namespace attnprof {
namespace {

NumericMachine machine_of(uint64_t seed) {
  return NumericMachine({{"Q", Role::input, Init::random, Dtype::fp16, 2, 3, 10, 16, 16},
                         {"O", Role::output, Init::poison, Dtype::bf16, 2, 3, 10, 16, 24},
                         {"l", Role::workspace, Init::zero, Dtype::fp32, 2, 3, 10, 1, 1}},
                        {seed});
}

TEST(NumericMachine, InputsAreTheSharedRandomValuesRounded) {
  const NumericMachine machine = machine_of(42);
  const float expected = round_to(Dtype::fp16, attnprof_random_value(42, 0, (5 * 10 + 7) * 16 + 3));
  EXPECT_EQ(machine.row(0, 5, 7)[3], expected);
  EXPECT_NE(machine_of(43).row(0, 5, 7)[3], expected);
}

TEST(NumericMachine, OutputsArePoisonedUntilWritten) {
  NumericMachine machine = machine_of(1);
  EXPECT_TRUE(std::isnan(machine.row(1, 0, 0)[0]));
  EXPECT_EQ(machine.row(2, 0, 0)[0], 0);
  machine.write({1, 2, 4, 2, 8, 4}, {2, 4, {1, 2, 3, 4, 5, 6, 7, 8}});
  EXPECT_EQ(machine.row(1, 2, 5)[9], 6);
  EXPECT_TRUE(std::isnan(machine.row(1, 2, 5)[7]));
  const TileValues back = machine.read({1, 2, 4, 2, 8, 4});
  EXPECT_EQ(back.at(1, 3), 8);
  EXPECT_EQ(back.rows * back.cols, static_cast<int64_t>(back.values.size()));
}

TEST(NumericMachine, WritesRoundToTheOperandsDtype) {
  NumericMachine machine = machine_of(1);
  const float value = 1.0f + std::ldexp(1.0f, -10);
  machine.write({1, 0, 0, 1, 0, 1}, {1, 1, {value}});
  machine.write({2, 0, 0, 1, 0, 1}, {1, 1, {value}});
  EXPECT_EQ(machine.row(1, 0, 0)[0], 1.0f) << "bf16 has 8 bits";
  EXPECT_EQ(machine.row(2, 0, 0)[0], value);
}

TEST(NumericMachine, MemsetsFillBytes) {
  NumericMachine machine = machine_of(1);
  machine.fill({.operand = 1, .value = 0});
  EXPECT_EQ(machine.row(1, 5, 9)[15], 0);
  machine.fill({.operand = 2, .value = 0xFF});
  EXPECT_TRUE(std::isnan(machine.row(2, 5, 9)[0]));
}

TEST(NumericMachine, ARegionOutsideItsOperandIsAnError) {
  NumericMachine machine = machine_of(1);
  EXPECT_THROW(machine.read({0, 0, 8, 4, 0, 16}), std::logic_error);
  EXPECT_THROW(machine.read({0, 6, 0, 1, 0, 16}), std::logic_error);
  EXPECT_THROW(machine.write({1, 0, 0, 2, 0, 16}, {1, 16, std::vector<float>(16)}), std::logic_error);
}

}  // namespace
}  // namespace attnprof
