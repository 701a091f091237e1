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

// PTX ISA, stmatrix: four 8 x 8 matrices of 16-bit elements; lane 8 i + r gives the address of row r of
// matrix i. Each lane holds of matrix i, in word i, what ldmatrix would give it.
__device__ inline void stmatrix_x4(uint32_t address, uint32_t m0, uint32_t m1, uint32_t m2, uint32_t m3) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(m0),
               "r"(m1), "r"(m2), "r"(m3)
               : "memory");
}
