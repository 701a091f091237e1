// Tests that plan counters for a chip, with CUPTI and without a GPU.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/error.hpp"
#include "measure/gpu/cupti.hpp"

namespace attnprof {

template <class Parameter>
class CuptiTest : public testing::TestWithParam<Parameter> {
 protected:
  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP()
        << "CUPTI opens libnvperf_host with RTLD_DEEPBIND, at which AddressSanitizer ends the program";
#endif
    try {
      cupti();
    } catch (const EnvironmentError& missing) {
      if (std::getenv("ATTNPROF_EXPECT_CUDA")) FAIL() << missing.what();  // set by test.sh --with-cuda
      GTEST_SKIP() << missing.what();
    }
  }
};

}  // namespace attnprof
