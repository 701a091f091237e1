// Barriers in shared memory that count arrivals and, for asynchronous copies, bytes. A barrier's phase flips
// when all arrivals and bytes of the present phase have come; a waiter names the parity it waits to see end.
#pragma once

#include <stdint.h>

// PTX ISA, mbarrier.init: one thread, before any use; make it visible with fence_mbarrier_init and a block
// barrier.
__device__ inline void mbarrier_init(uint32_t barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// PTX ISA, fence.mbarrier_init: orders initialisation before the copy engine's arrivals.
__device__ inline void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// PTX ISA, mbarrier.arrive: one arrival; what the thread wrote before is visible to waiters.
__device__ inline void mbarrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// PTX ISA, mbarrier.arrive.expect_tx: one arrival, and the phase waits for `bytes` more by copies.
__device__ inline void mbarrier_arrive_expect(uint32_t barrier, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

// PTX ISA, mbarrier.try_wait.parity: until the phase of this parity has ended.
__device__ inline void mbarrier_wait(uint32_t barrier, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra over;\n"
      "bra again;\n"
      "over:\n"
      "}" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
