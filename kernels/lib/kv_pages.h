// A cache of K and V in pages of PAGE keys; shared by host and device. Page n of K is [kv_heads, page,
// head_dim], and so is page n of V; a sequence's block table lists its pages in the order of its keys.
#pragma once

#include "host_device.h"

// The page that holds page `index` of a sequence, of `pages` in all: a fixed shuffle, as a cache that has
// been in use for a while looks. `index` counts the pages of all sequences.
ATTNPROF_HOST_DEVICE inline long long shuffled_page(long long index, long long pages) {
  long long step = pages * 5 / 8 + 1;  // near the golden ratio of `pages`
  const auto divides = [](long long a, long long b) {
    while (b != 0) {
      const long long rest = a % b;
      a = b, b = rest;
    }
    return a;  // their greatest common divisor
  };
  while (divides(step, pages) != 1) ++step;
  return index % pages * step % pages;
}
