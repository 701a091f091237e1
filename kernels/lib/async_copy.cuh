// Global to shared memory without passing through registers or L1.
#pragma once

#include <stdint.h>

// PTX ISA, cp.async.cg: 16 bytes past L1; with `valid` false the source size is 0: nothing is read, zeros are
// written.
__device__ inline void cp_async_16(uint32_t shared_address, const void* global_address, bool valid) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address), "l"(global_address),
               "r"(valid ? 16 : 0)
               : "memory");
}

// PTX ISA, cp.async.commit_group: the thread's copies since the last commit become one group.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// PTX ISA, cp.async.wait_group: until at most `pending` of the thread's youngest groups are unfinished.
template <int pending>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}
