#include "base/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

namespace attnprof {
namespace {

TEST(ForEachInParallel, CallsEachOnce) {
  for (size_t threads : {size_t{0}, size_t{1}, size_t{3}, size_t{100}}) {
    std::vector<std::atomic<int>> calls(50);
    for_each_in_parallel(50, threads, [&](int64_t i) { ++calls[static_cast<size_t>(i)]; });
    for (const auto& count : calls) EXPECT_EQ(count, 1) << threads;
  }
  for_each_in_parallel(0, 4, [](int64_t) { FAIL(); });
}

TEST(ForEachInParallel, AnErrorReachesTheCallerAndEndsTheRest) {
  for (size_t threads : {size_t{1}, size_t{4}}) {
    std::atomic<int> calls = 0;
    const auto work = [&](int64_t i) {
      ++calls;
      if (i == 5) throw std::runtime_error("five");
    };
    try {
      for_each_in_parallel(1'000'000, threads, work);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "five");
    }
    EXPECT_LT(calls, 1'000'000);
  }
}

}  // namespace
}  // namespace attnprof
