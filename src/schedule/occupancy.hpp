// Thread blocks resident on an SM at once.
#pragma once

#include <cstdint>

#include "device/device_profile.hpp"
#include "schedule/step.hpp"

namespace attnprof {

struct BlockNeeds {
  int threads = 0;
  int registers = 0;       // a thread; 0: unknown, no limit
  int64_t smem_bytes = 0;  // dynamic and static
};

// Shared memory that `blocks` of them take on an SM: 1 KB a block is the system's.
int64_t smem_of_blocks(int64_t blocks, int64_t smem_bytes);

// Blocks that shared memory, threads, registers (given out to warps in units
// of 256, from four partitions) and the SM's own limit allow; 0 when one block does not fit.
int resident_ctas_per_sm(const BlockNeeds& needs, const DeviceProfile& device);

// What a step's blocks need. A library's GEMM is assumed to fill an SM with one block, as its kernels on
// recent GPUs do.
BlockNeeds block_needs(const Step& step, const DeviceProfile& device);

}  // namespace attnprof
