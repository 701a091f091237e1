// Warpgroup matrix instructions (Hopper): D[64, N] += A[64, k] B[k, N] by 128 threads, fp32 accumulation,
// asynchronous. B comes from shared memory, A from shared memory or registers. Thread t of the warpgroup
// holds of D, for row g = t / 4 % 8 + 16 (t / 32) and every 8 columns n: (g, 8 n + 2 (t % 4) + {0, 1}) in
// [n][0, 1], (g + 8, ...) in [n][2, 3]: the accumulators of mma.cuh side by side.
#pragma once

#include <stdint.h>

// How an operand lies in shared memory: rows of `width` bytes, 128, 64 or 32, its 16-byte chunks permuted by
// the hardware's swizzle of that width. PTX ISA, matrix descriptor format.
template <int width>
struct SwizzledPanel {
  static_assert(width == 128 || width == 64 || width == 32);
  static constexpr uint64_t mode = width == 128 ? 1 : width == 64 ? 2 : 3;
  // K-major: the contraction runs along a row. 8 rows are one atom; within a row the start address advances.
  __device__ static uint64_t k_major(uint32_t address) { return descriptor(address, 1, 8 * width); }
  // MN-major: the contraction runs down the rows, and panels `panel_bytes` apart follow along N.
  __device__ static uint64_t mn_major(uint32_t address, uint32_t panel_bytes) {
    return descriptor(address, panel_bytes / 16, 8 * width);
  }

 private:
  __device__ static uint64_t descriptor(uint32_t address, uint64_t leading, uint64_t stride_bytes) {
    return (address & 0x3FFFF) >> 4 | leading << 16 | stride_bytes / 16 << 32 | mode << 62;
  }
};
// The operand `bytes` further on; constant folds into an immediate.
__device__ inline uint64_t advance(uint64_t descriptor, uint32_t bytes) { return descriptor + bytes / 16; }

// PTX ISA, wgmma.fence: registers written by other instructions before wgmma reads or accumulates into them.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// PTX ISA, wgmma.commit_group: the products issued since the last commit become one group.
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
// PTX ISA, wgmma.wait_group: until at most `pending` of the youngest groups are unfinished.
template <int pending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(pending) : "memory");
}
// Keeps the compiler from moving uses of registers that wgmma works on across this point.
template <int blocks, int width>
__device__ inline void wgmma_pin(float (&c)[blocks][width]) {
#pragma unroll
  for (int i = 0; i < blocks * width; ++i) asm volatile("" : "+f"(c[i / width][i % width])::"memory");
}

// wgmma.mma_async.sync.aligned.m64nNk{16, 32}: `ss` with A in shared memory and B K-major; `rs` with A in
// registers, B MN-major for 16-bit elements and K-major for 8-bit ones. `accumulate` 0 starts from zero.
template <int N>
struct Wgmma;

#if DTYPE == 1
#define ATTNPROF_WGMMA_TYPES "k16.f32.f16.f16"
#define ATTNPROF_WGMMA_SS ", p, 1, 1, 0, 0;"
#define ATTNPROF_WGMMA_RS ", p, 1, 1, 1;"
#elif DTYPE == 2
#define ATTNPROF_WGMMA_TYPES "k16.f32.bf16.bf16"
#define ATTNPROF_WGMMA_SS ", p, 1, 1, 0, 0;"
#define ATTNPROF_WGMMA_RS ", p, 1, 1, 1;"
#elif DTYPE == 3
#define ATTNPROF_WGMMA_TYPES "k32.f32.e4m3.e4m3"
#define ATTNPROF_WGMMA_SS ", p, 1, 1;"
#define ATTNPROF_WGMMA_RS ", p, 1, 1;"
#else
#error "wgmma.cuh takes DTYPE 1 (fp16), 2 (bf16) or 3 (e4m3)"
#endif

// Eight accumulators: two blocks of 8 columns. Inline PTX numbers its operands, so each N has its own list.
#define ATTNPROF_ACC(n)                                                                             \
  "+f"(c[n][0]), "+f"(c[n][1]), "+f"(c[n][2]), "+f"(c[n][3]), "+f"(c[n + 1][0]), "+f"(c[n + 1][1]), \
      "+f"(c[n + 1][2]), "+f"(c[n + 1][3])

#define ATTNPROF_R16 "%0, %1, %2, %3, %4, %5, %6, %7"
#define ATTNPROF_R32 \
  ATTNPROF_R16       \
  ", "               \
  "%8, %9, %10, %11, %12, %13, %14, %15"
#define ATTNPROF_R48 \
  ATTNPROF_R32       \
  ", "               \
  "%16, %17, %18, %19, %20, %21, %22, %23"
#define ATTNPROF_R64 \
  ATTNPROF_R48       \
  ", "               \
  "%24, %25, %26, %27, %28, %29, %30, %31"
#define ATTNPROF_R80 \
  ATTNPROF_R64       \
  ", "               \
  "%32, %33, %34, %35, %36, %37, %38, %39"
#define ATTNPROF_R96 \
  ATTNPROF_R80       \
  ", "               \
  "%40, %41, %42, %43, %44, %45, %46, %47"
#define ATTNPROF_R112 \
  ATTNPROF_R96        \
  ", "                \
  "%48, %49, %50, %51, %52, %53, %54, %55"
#define ATTNPROF_R128 \
  ATTNPROF_R112       \
  ", "                \
  "%56, %57, %58, %59, %60, %61, %62, %63"
#define ATTNPROF_R144 \
  ATTNPROF_R128       \
  ", "                \
  "%64, %65, %66, %67, %68, %69, %70, %71"
#define ATTNPROF_R160 \
  ATTNPROF_R144       \
  ", "                \
  "%72, %73, %74, %75, %76, %77, %78, %79"
#define ATTNPROF_R176 \
  ATTNPROF_R160       \
  ", "                \
  "%80, %81, %82, %83, %84, %85, %86, %87"
#define ATTNPROF_R192 \
  ATTNPROF_R176       \
  ", "                \
  "%88, %89, %90, %91, %92, %93, %94, %95"
#define ATTNPROF_R208 \
  ATTNPROF_R192       \
  ", "                \
  "%96, %97, %98, %99, %100, %101, %102, %103"
#define ATTNPROF_R224 \
  ATTNPROF_R208       \
  ", "                \
  "%104, %105, %106, %107, %108, %109, %110, %111"
#define ATTNPROF_R240 \
  ATTNPROF_R224       \
  ", "                \
  "%112, %113, %114, %115, %116, %117, %118, %119"
#define ATTNPROF_R256 \
  ATTNPROF_R240       \
  ", "                \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define ATTNPROF_C16 ATTNPROF_ACC(0)
#define ATTNPROF_C32 ATTNPROF_C16, ATTNPROF_ACC(2)
#define ATTNPROF_C48 ATTNPROF_C32, ATTNPROF_ACC(4)
#define ATTNPROF_C64 ATTNPROF_C48, ATTNPROF_ACC(6)
#define ATTNPROF_C80 ATTNPROF_C64, ATTNPROF_ACC(8)
#define ATTNPROF_C96 ATTNPROF_C80, ATTNPROF_ACC(10)
#define ATTNPROF_C112 ATTNPROF_C96, ATTNPROF_ACC(12)
#define ATTNPROF_C128 ATTNPROF_C112, ATTNPROF_ACC(14)
#define ATTNPROF_C144 ATTNPROF_C128, ATTNPROF_ACC(16)
#define ATTNPROF_C160 ATTNPROF_C144, ATTNPROF_ACC(18)
#define ATTNPROF_C176 ATTNPROF_C160, ATTNPROF_ACC(20)
#define ATTNPROF_C192 ATTNPROF_C176, ATTNPROF_ACC(22)
#define ATTNPROF_C208 ATTNPROF_C192, ATTNPROF_ACC(24)
#define ATTNPROF_C224 ATTNPROF_C208, ATTNPROF_ACC(26)
#define ATTNPROF_C240 ATTNPROF_C224, ATTNPROF_ACC(28)
#define ATTNPROF_C256 ATTNPROF_C240, ATTNPROF_ACC(30)

#define ATTNPROF_WGMMA(N, n0, n1, n2, n3, n4, n5)                                                         \
  template <>                                                                                             \
  struct Wgmma<N> {                                                                                       \
    __device__ static void ss(float (&c)[N / 8][4], uint64_t a, uint64_t b, int accumulate) {             \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #n2                                                 \
                   ", 0; wgmma.mma_async.sync.aligned.m64n" #N ATTNPROF_WGMMA_TYPES " {" ATTNPROF_R##N    \
                   "}, %" #n0 ", %" #n1 ATTNPROF_WGMMA_SS " }"                                            \
                   : ATTNPROF_C##N                                                                        \
                   : "l"(a), "l"(b), "r"(accumulate));                                                    \
    }                                                                                                     \
    __device__ static void rs(float (&c)[N / 8][4], const uint32_t (&a)[4], uint64_t b, int accumulate) { \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #n5                                                 \
                   ", 0; wgmma.mma_async.sync.aligned.m64n" #N ATTNPROF_WGMMA_TYPES " {" ATTNPROF_R##N    \
                   "}, {%" #n0 ", %" #n1 ", %" #n2 ", %" #n3 "}, %" #n4 ATTNPROF_WGMMA_RS " }"            \
                   : ATTNPROF_C##N                                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate));                \
    }                                                                                                     \
  };
ATTNPROF_WGMMA(16, 8, 9, 10, 11, 12, 13)
ATTNPROF_WGMMA(32, 16, 17, 18, 19, 20, 21)
ATTNPROF_WGMMA(48, 24, 25, 26, 27, 28, 29)
ATTNPROF_WGMMA(64, 32, 33, 34, 35, 36, 37)
ATTNPROF_WGMMA(80, 40, 41, 42, 43, 44, 45)
ATTNPROF_WGMMA(96, 48, 49, 50, 51, 52, 53)
ATTNPROF_WGMMA(112, 56, 57, 58, 59, 60, 61)
ATTNPROF_WGMMA(128, 64, 65, 66, 67, 68, 69)
ATTNPROF_WGMMA(144, 72, 73, 74, 75, 76, 77)
ATTNPROF_WGMMA(160, 80, 81, 82, 83, 84, 85)
ATTNPROF_WGMMA(176, 88, 89, 90, 91, 92, 93)
ATTNPROF_WGMMA(192, 96, 97, 98, 99, 100, 101)
ATTNPROF_WGMMA(208, 104, 105, 106, 107, 108, 109)
ATTNPROF_WGMMA(224, 112, 113, 114, 115, 116, 117)
ATTNPROF_WGMMA(240, 120, 121, 122, 123, 124, 125)
ATTNPROF_WGMMA(256, 128, 129, 130, 131, 132, 133)
