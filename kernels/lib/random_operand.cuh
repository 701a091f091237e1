// 32-bit words of random operands for the kernels that measure tensor cores' rates: power, and with it the
// clock, hangs on the bits that change.
#pragma once

#include "lib/random_value.h"
#if DTYPE == 3
#include "lib/element8.cuh"
#else
#include "lib/element16.cuh"
#endif

// Elements of one word near N(0, 1), other ones for every (tensor, index).
__device__ inline uint32_t random_word(unsigned tensor, unsigned long long index) {
#if DTYPE == 3
  const auto value = [&](int i) {
    return attnprof_fp8_value(1, tensor, 4 * index + i, attention_input_normal);
  };
  return pack4(value(0), value(1), value(2), value(3));
#else
  return pack2(attnprof_random_value(1, tensor, 2 * index), attnprof_random_value(1, tensor, 2 * index + 1));
#endif
}
