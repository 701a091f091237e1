#include "base/saturating.hpp"

#include <gtest/gtest.h>

#include "problem/operands.hpp"

namespace attnprof {
namespace {

TEST(Saturating, StopsAtTheLargest) {
  constexpr int64_t large = 10'000'000'000;
  EXPECT_EQ(saturating_product({3, 4, 5}), 60);
  EXPECT_EQ(saturating_product({}), 1);
  EXPECT_EQ(saturating_product({large, large}), saturated);
  EXPECT_EQ(saturating_product({large, large, large, large}), saturated) << "however it wraps around";
  EXPECT_EQ(saturating_product({large, large, 0}), 0);
  EXPECT_EQ(saturating_sum(saturated - 1, 1), saturated);
  EXPECT_EQ(saturating_sum(saturated, saturated), saturated);
}

// Workspaces of variant files may be of any size: they are held against a device's memory like all others.
TEST(Saturating, OperandsBeyond64BitsAreTooLargeForAnyDevice) {
  const Operand huge{"S",        Role::workspace, Init::poison, ElementType::fp32, 10'000'000,
                     10'000'000, 10'000'000,      10'000'000,   10'000'000};
  EXPECT_EQ(huge.bytes(), saturated);
  OperandList two;
  two.add_workspace(huge);
  two.add_workspace(huge);
  EXPECT_EQ(total_bytes(two), saturated);
}

}  // namespace
}  // namespace attnprof
