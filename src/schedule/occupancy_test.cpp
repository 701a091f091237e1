#include "schedule/occupancy.hpp"

#include <gtest/gtest.h>

#include "device/architectures.hpp"
#include "device/device_profiles.hpp"
#include "testing/h200.hpp"

#if __has_include(<cuda_occupancy.h>)
#include <cuda_occupancy.h>
#endif

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

TEST(Occupancy, OlderArchitecturesKeepNoSharedMemoryForTheSystem) {
  const DeviceProfile turing = *profile_of_architecture("sm_75"), ampere = *profile_of_architecture("sm_86");
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 64 * 1024}, turing), 1);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 32 * 1024}, turing), 2);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 0}, turing), 8) << "threads";
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 24 * 1024}, ampere), 4);
  EXPECT_EQ(resident_ctas_per_sm({.threads = 128, .registers = 32, .smem_bytes = 24 * 1024 + 4}, ampere), 3)
      << "25.125 KB of the 100: shared memory is given out in units of 128 bytes";
}

#if __has_include(<cuda_occupancy.h>)
// NVIDIA's own calculator, of the same toolkit as the compiler.
int by_nvidia(const BlockNeeds& needs, const DeviceProfile& device) {
  cudaOccDeviceProp properties;
  const int number = *architecture_number(device.arch);
  properties.computeMajor = number / 10, properties.computeMinor = number % 10;
  properties.maxThreadsPerBlock = 1024;
  properties.maxThreadsPerMultiprocessor = device.max_threads_per_sm;
  properties.regsPerBlock = properties.regsPerMultiprocessor = device.registers_per_sm;
  properties.warpSize = 32;
  properties.numSms = 1;
  properties.sharedMemPerBlock = 48 * 1024;
  properties.sharedMemPerBlockOptin = static_cast<size_t>(device.smem_per_block_bytes);
  properties.sharedMemPerMultiprocessor = static_cast<size_t>(device.smem_per_sm_bytes);
  properties.reservedSharedMemPerBlock = number < 80 ? 0 : 1024;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = needs.registers;
  kernel.sharedSizeBytes = 0;
  kernel.partitionedGCConfig = PARTITIONED_GC_OFF;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = properties.sharedMemPerBlockOptin;
  kernel.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
  cudaOccResult result;
  const auto error = cudaOccMaxActiveBlocksPerMultiprocessor(
      &result, &properties, &kernel, &state, needs.threads, static_cast<size_t>(needs.smem_bytes));
  return error == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1;
}

TEST(Occupancy, IsWhatNvidiasCalculatorSays) {
  for (const char* arch :
       {"sm_75", "sm_80", "sm_86", "sm_87", "sm_89", "sm_90a", "sm_100a", "sm_103a", "sm_120", "sm_121"})
    for (const int threads : {32, 96, 128, 160, 256, 288, 384, 512, 1000, 1024})
      for (const int registers : {8, 31, 32, 33, 40, 64, 80, 96, 128, 168, 255})
        for (const int64_t smem : {0, 1, 1000, 7000, 16384, 24577, 33000, 48000, 49152, 65536}) {
          const DeviceProfile device = *profile_of_architecture(arch);
          const BlockNeeds needs{threads, registers, smem};
          ASSERT_EQ(resident_ctas_per_sm(needs, device), by_nvidia(needs, device))
              << arch << ", " << threads << " threads, " << registers << " registers, " << smem << " bytes";
        }
}
#endif

}  // namespace
}  // namespace attnprof
