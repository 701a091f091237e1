// For tests: the real nvcc on the project's own device code. Skipped where there is none, failed where
// scripts/test.sh --with-cuda has installed one.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "measure/compile/compile.hpp"
#include "test_paths.hpp"

namespace attnprof {

class NvccTest : public testing::Test {
 protected:
  void SetUp() override {
    try {
      find_toolchain();
    } catch (const EnvironmentError& error) {
      if (std::getenv("ATTNPROF_EXPECT_CUDA")) FAIL() << error.what();
      GTEST_SKIP() << error.what();
    }
  }
  // The cache is one of all builds of this tree: what `test` has compiled, `asan` and the next run find
  // there.
  static CompileOptions options() { return {ATTNPROF_SOURCE_DIR "/kernels", ATTNPROF_TEST_KERNEL_CACHE, ""}; }
};

}  // namespace attnprof
