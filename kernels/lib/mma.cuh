// Warp-level matrix instructions: fragments from shared memory, and the 16 x 8 x 16 product.
// With g = lane / 4 and t = lane % 4, a thread holds of a 16 x 8 fp32 accumulator (g, 2t), (g, 2t + 1),
// (g + 8, 2t), (g + 8, 2t + 1).
#pragma once

#include "element16.cuh"

// PTX ISA, ldmatrix: four 8 x 8 matrices of 16-bit elements; lane 8 i + r gives the address of row r of
// matrix i.
__device__ inline void ldmatrix_x4(uint32_t (&f)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(address));
}

// PTX ISA, ldmatrix with .trans: the same, each matrix transposed.
__device__ inline void ldmatrix_x4_trans(uint32_t (&f)[4], uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f[0]), "=r"(f[1]), "=r"(f[2]), "=r"(f[3])
               : "r"(address));
}

// PTX ISA, mma.sync.aligned.m16n8k16: c += a b with a 16 x 16, b 16 x 8; fp32 accumulation. 4096 FLOPs.
__device__ inline void mma_16x8x16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1) {
#if DTYPE == 1
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
#endif
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
