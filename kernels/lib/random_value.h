// The value of one random input element, from (seed, tensor, index) alone: host and device compute the same
// bits, so inputs are made on the device and any part of them can be made again on the host.
#pragma once

#ifdef __CUDACC__
#define ATTNPROF_HOST_DEVICE __host__ __device__
#else
#define ATTNPROF_HOST_DEVICE
#endif

// splitmix64's finaliser over the index, keyed by seed and tensor; the sum of its four 16-bit parts is close
// to a normal distribution (Irwin-Hall, n = 4). Result: mean 0, standard deviation 1, within [-3.47, 3.47].
ATTNPROF_HOST_DEVICE inline float attnprof_random_value(unsigned long long seed, unsigned tensor,
                                                        unsigned long long index) {
  unsigned long long x =
      (index + 1) * 0x9E3779B97F4A7C15ull + seed * 0xD1342543DE82EF95ull + tensor * 0xA24BAED4963EE407ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  x ^= x >> 31;
  const int sum = static_cast<int>((x & 0xFFFF) + ((x >> 16) & 0xFFFF) + ((x >> 32) & 0xFFFF) + (x >> 48));
  // Four uniforms on 0..65535: mean 131070, standard deviation 37837.2. Both steps round once, on host and
  // device alike.
  return static_cast<float>(sum - 131070) * (1.0f / 37837.2f);
}
