// The value of one random input element, from (seed, tensor, index) alone: host and device compute the same
// bits, so inputs are made on the device and any part of them can be made again on the host.
#pragma once

#include "host_device.h"

// splitmix64's finaliser over the index, keyed by seed and tensor.
ATTNPROF_HOST_DEVICE inline unsigned long long attnprof_random_bits(unsigned long long seed, unsigned tensor,
                                                                    unsigned long long index) {
  unsigned long long x =
      (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull + tensor * 0xA24BAED4963EE407ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// The sum of four 16-bit uniforms less its mean: close to a normal distribution (Irwin-Hall, n = 4) of
// standard deviation 37837.2, within 131070.
ATTNPROF_HOST_DEVICE inline int attnprof_normal_sum(unsigned long long bits) {
  const int sum =
      static_cast<int>((bits & 0xFFFF) + ((bits >> 16) & 0xFFFF) + ((bits >> 32) & 0xFFFF) + (bits >> 48));
  return sum - 131070;
}

// Both steps round once, on host and device alike.
ATTNPROF_HOST_DEVICE inline float attnprof_normal_value(int sum) {
  return static_cast<float>(sum) * (1.0f / 37837.2f);
}

// Mean 0, standard deviation 1, within [-3.47, 3.47].
ATTNPROF_HOST_DEVICE inline float attnprof_random_value(unsigned long long seed, unsigned tensor,
                                                        unsigned long long index) {
  return attnprof_normal_value(attnprof_normal_sum(attnprof_random_bits(seed, tensor, index)));
}

// Kinds of input.
enum AttentionInput : int {
  attention_input_normal = 0,
  // One element in a thousand has a value of standard deviation 10 added: N(0, 1) + N(0, 100)
  // Bernoulli(0.001), the outliers of the FlashAttention-3 paper's numerical error validation.
  attention_input_outliers = 1,
};

// Numbers of the tensors that only choose and make outliers.
enum : unsigned { attention_outlier_choice = 1u << 16, attention_outlier_value = 2u << 16 };

// The sum is made of integers, under 2^24, so that it is exact and no compiler fuses its rounding.
ATTNPROF_HOST_DEVICE inline float attnprof_input_value(unsigned long long seed, unsigned tensor,
                                                       unsigned long long index, int input) {
  int sum = attnprof_normal_sum(attnprof_random_bits(seed, tensor, index));
  if (input == attention_input_outliers) {
    const unsigned long long choice = attnprof_random_bits(seed, tensor + attention_outlier_choice, index);
    if ((choice >> 32) < 4294967)  // 0.001 of 2^32
      sum += 10 * attnprof_normal_sum(attnprof_random_bits(seed, tensor + attention_outlier_value, index));
  }
  return attnprof_normal_value(sum);
}

// FP8. A head's values are gain * x, with x an input value and a gain from 0.5 to 2 of the head's own, so
// that a scale taken from another head shows. They are stored as e4m3(x / unit) with one scale a head, gain *
// unit, where 448 units (e4m3's largest) are the least power of two times 3.5 that no |x| exceeds: 3.5, and
// 56 with outliers. Both are powers of two apart from the gain: no step but the rounding to e4m3 rounds.
ATTNPROF_HOST_DEVICE inline float attnprof_fp8_unit(int input) {
  return input == attention_input_outliers ? 0.125f : 0.0078125f;
}

// What is rounded to e4m3.
ATTNPROF_HOST_DEVICE inline float attnprof_fp8_value(unsigned long long seed, unsigned tensor,
                                                     unsigned long long index, int input) {
  return attnprof_input_value(seed, tensor, index, input) * (1.0f / attnprof_fp8_unit(input));
}

// The scale of (batch, head) `slice`; `tensor`: the scales' own number. The gain has 18 bits: exact.
ATTNPROF_HOST_DEVICE inline float attnprof_fp8_scale(unsigned long long seed, unsigned tensor,
                                                     unsigned long long slice, int input) {
  const int step = static_cast<int>(attnprof_random_bits(seed, tensor, slice) >> 48);
  return static_cast<float>(65536 + 3 * step) * (1.0f / 131072.0f) * attnprof_fp8_unit(input);
}
