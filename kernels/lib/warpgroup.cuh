// What warpgroups (128 threads) do beside products: hand registers over, and meet at named barriers.
#pragma once

#include <stdint.h>

constexpr int warpgroup_threads = 128;

// PTX ISA, setmaxnreg.dec / .inc: the warpgroup's registers a thread from here on; a multiple of 8. A request
// for more waits until others have given theirs up.
template <int registers>
__device__ inline void registers_down_to() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(registers));
}
template <int registers>
__device__ inline void registers_up_to() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(registers));
}

// PTX ISA, barrier.sync and barrier.arrive: barrier `id` (1 to 15) opens when `threads` have come; arriving
// does not wait.
__device__ inline void named_barrier_sync(int id, int threads) {
  asm volatile("barrier.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
__device__ inline void named_barrier_arrive(int id, int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}
