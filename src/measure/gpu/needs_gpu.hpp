// What a test says that needs a GPU and finds none, or finds something missing beside it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace attnprof {

// Skips the test with the reason. Where ATTNPROF_EXPECT_GPU is set and not empty, as
// scripts/evidence/gpu_test.sh sets it, nothing may be missing: there the test fails. The caller returns.
inline void skip_or_fail(const std::string& reason) {
  const char* expected = std::getenv("ATTNPROF_EXPECT_GPU");
  if (expected && *expected) FAIL() << "ATTNPROF_EXPECT_GPU is set, but " << reason;
  GTEST_SKIP() << reason;
}

}  // namespace attnprof
