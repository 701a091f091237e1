// The simulator's matrix product, fast enough to run whole attention problems on a CPU.
#pragma once

#include <cstdint>

namespace attnprof {

// A row-major matrix in memory: element (r, c) is data[r * pitch + c].
struct ConstMatrix {
  const float* data;
  int64_t pitch;
};
struct Matrix {
  float* data;
  int64_t pitch;
};

// C += A B in fp32: A m x k, B k x n, C m x n. Every element of C is summed in the order of k, whatever the
// sizes, so a tiling does not change results by more than its own grouping does.
void multiply_add(int64_t m, int64_t n, int64_t k, ConstMatrix a, ConstMatrix b, Matrix c);

}  // namespace attnprof
