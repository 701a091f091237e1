// For tests: the real nvcc on the project's own device code. Skipped where there is none, failed where
// scripts/test.sh --with-cuda has installed one.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

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
  // nvcc, ready to link. In NVIDIA's wheels its libraries lie in lib/, where it does not look by itself.
  static std::vector<std::string> linking_nvcc() {
    const std::filesystem::path nvcc = find_toolchain().nvcc;
    return {nvcc.string(), "-L" + (nvcc.parent_path().parent_path() / "lib").string()};
  }
  // The cache is one of all builds of this tree: what `test` has compiled, `asan` and the next run find
  // there.
  static CompileOptions options() { return {ATTNPROF_SOURCE_DIR "/kernels", ATTNPROF_TEST_KERNEL_CACHE, ""}; }
};

}  // namespace attnprof
