// Whole numbers that stop at the largest there is: a size beyond 64 bits is "too much" like any other, and is
// refused where it is held against what there is.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace attnprof {

inline constexpr int64_t saturated = std::numeric_limits<int64_t>::max();

// Of numbers that are not negative.
constexpr int64_t saturating_product(std::initializer_list<int64_t> factors) {
  int64_t product = 1;
  bool beyond = false;
  for (const int64_t factor : factors) {
    if (factor == 0) return 0;
    beyond |= __builtin_mul_overflow(product, factor, &product);
  }
  return beyond ? saturated : product;
}

constexpr int64_t saturating_sum(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? saturated : sum;
}

}  // namespace attnprof
