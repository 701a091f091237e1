// Products that a problem asks for, whatever computes it.
#pragma once

#include <cstdint>

#include "problem/problem.hpp"

namespace attnprof {

// FLOPs of the pass's matrix products over unmasked pairs (forward: QK^T and PV, 4 head_dim a pair; backward:
// 10), all heads and sequences. Softmax is not counted.
int64_t useful_flops(const Problem& problem);

// FlashAttention's convention: the full q_len x kv_len products, halved when causal.
int64_t half_square_flops(const Problem& problem);

}  // namespace attnprof
