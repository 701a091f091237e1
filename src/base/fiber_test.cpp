#include "base/fiber.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace attnprof {
namespace {

constexpr size_t stack_bytes = 256 * 1024;

TEST(Fiber, GoesOnWhereItPaused) {
  Fiber fiber(stack_bytes);
  std::string said;
  bool more = fiber.start([&] {
    for (int i = 0; i < 3; ++i) {
      said += std::to_string(i);
      fiber.pause();
    }
    said += "end";
  });
  for (; more; more = fiber.resume()) said += ".";
  EXPECT_EQ(said, "0.1.2.end");
}

TEST(Fiber, OneStackRunsManyBodies) {
  Fiber fiber(stack_bytes);
  int sum = 0;
  for (int i = 1; i <= 1000; ++i) {
    EXPECT_TRUE(fiber.start([&] { fiber.pause(), sum += i; }));
    EXPECT_FALSE(fiber.resume());
  }
  EXPECT_EQ(sum, 500500);
}

TEST(Fiber, ManyAdvanceSideBySide) {
  std::vector<std::unique_ptr<Fiber>> fibers;
  std::vector<int> order;
  for (int i = 0; i < 3; ++i) {
    fibers.push_back(std::make_unique<Fiber>(stack_bytes));
    Fiber& fiber = *fibers.back();
    fiber.start([&order, &fiber, i] {
      order.push_back(i);
      fiber.pause();
      order.push_back(10 + i);
    });
  }
  for (auto& fiber : fibers) fiber->resume();
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 10, 11, 12}));
}

TEST(Fiber, WhatABodyThrowsIsThrownOn) {
  Fiber fiber(stack_bytes);
  EXPECT_THROW(fiber.start([] { throw std::runtime_error("at once"); }), std::runtime_error);
  EXPECT_TRUE(fiber.start([&] {
    fiber.pause();
    throw std::runtime_error("later");
  }));
  EXPECT_THROW(fiber.resume(), std::runtime_error);
  EXPECT_FALSE(fiber.start([] {})) << "usable after that";
}

TEST(Fiber, ABodyThatNobodyResumesIsUnwound) {
  struct Guard {
    bool& ended;
    ~Guard() { ended = true; }
  };
  bool ended = false;
  {
    Fiber fiber(stack_bytes);
    EXPECT_TRUE(fiber.start([&] {
      const Guard guard{ended};
      const std::vector<int> memory(1000);
      fiber.pause();
      ADD_FAILURE() << "must not go on";
    }));
    EXPECT_FALSE(ended);
  }
  EXPECT_TRUE(ended);
}

}  // namespace
}  // namespace attnprof
