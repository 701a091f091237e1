// Blocks of naive's backward pass; shared by host (launch, schedule) and device.
#pragma once

#include "host_device.h"

constexpr int naive_backward_threads = 256;
constexpr int naive_rows_per_block = naive_backward_threads / 32;  // of the launches with a warp a row

// Shared memory, in floats: K, V, Q, dO with a float of padding a row, P and dS likewise, dK and dV, and LSE
// and delta of the query rows.
ATTNPROF_HOST_DEVICE constexpr int naive_backward_floats(int br, int bc, int d) {
  return 2 * (br + bc) * (d + 1) + 2 * br * (bc + 1) + 2 * bc * d + 2 * br;
}
