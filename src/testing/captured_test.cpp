// Nothing that a test captures stays captured after it, however that ends.
#include "testing/captured.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>

namespace attnprof {
namespace {

TEST(Captured, IsBothStreams) {
  const Printed printed = printed_by([] {
    std::fputs("answer\n", stdout);
    std::fputs("warning\n", stderr);
  });
  EXPECT_EQ(printed.out, "answer\n");
  EXPECT_EQ(printed.err, "warning\n");
}

TEST(Captured, EndsByAnException) {
  EXPECT_THROW(printed_by([] { throw std::runtime_error("in between"); }), std::runtime_error);
  EXPECT_EQ(printed_by([] { std::fputs("next\n", stderr); }).err, "next\n");
}

TEST(Captured, ASecondOneMeanwhileIsAnExceptionAndNoAbort) {
  const auto twice = [] { printed_by([] { printed_by([] {}); }); };
  EXPECT_THROW(twice(), std::logic_error);
  EXPECT_EQ(printed_by([] { std::fputs("next\n", stdout); }).out, "next\n");
}

}  // namespace
}  // namespace attnprof
