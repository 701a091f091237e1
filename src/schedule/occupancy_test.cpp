#include "schedule/occupancy.hpp"

#include <gtest/gtest.h>

#include "device/device_profiles.hpp"
#include "testing/h200.hpp"

namespace attnprof {
namespace {

TEST(Occupancy, EachLimitBindsInTurn) {
  EXPECT_EQ(resident_ctas_per_sm({.threads = 32, .registers = 16, .smem_bytes = 0}, h200()), 32) << "blocks";
  EXPECT_EQ(resident_ctas_per_sm({.threads = 256, .registers = 32, .smem_bytes = 0}, h200()), 8) << "threads";
  EXPECT_EQ(resident_ctas_per_sm({.threads = 256, .registers = 128, .smem_bytes = 0}, h200()), 2)
      << "65536 / (256 x 128)";
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 75 * 1024}, h200()), 3)
      << "3 x 76 KB of 228";
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 255, .smem_bytes = 0}, h200()), 2)
      << "255 registers are handed out as 256";
}

TEST(Occupancy, WhatDoesNotFitIsZero) {
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 228 * 1024}, h200()), 0);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 1024, .registers = 128, .smem_bytes = 0}, h200()), 0);
}

TEST(Occupancy, RegistersComeFromFourPartitions) {
  // 168 registers: 3 warps a partition, 12 an SM; undivided, 65536 registers would hold 12.19.
  EXPECT_EQ(resident_ctas_per_sm({.threads = 192, .registers = 168, .smem_bytes = 0}, h200()), 2);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 288, .registers = 168, .smem_bytes = 0}, h200()), 1);
  // 9 warps of 224 registers are 64512 of 65536, but one partition would have to hold three of its two.
  EXPECT_EQ(resident_ctas_per_sm({.threads = 288, .registers = 224, .smem_bytes = 0}, h200()), 0);
}

TEST(Occupancy, PartialWarpsCountInFull) {
  EXPECT_EQ(resident_ctas_per_sm({.threads = 1000, .registers = 0, .smem_bytes = 0}, h200()), 2);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 1000, .registers = 0, .smem_bytes = 0}, *find_profile("l40s")),
            1);
}

}  // namespace
}  // namespace attnprof
