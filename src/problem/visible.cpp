#include "problem/visible.hpp"

#include <algorithm>

namespace attnprof {
namespace {

// All sequences of a problem are alike; unequal ones are problems of their own (problem/equal_parts.hpp).
AttentionMask mask_of(const Problem& p, int64_t /*sequence*/) {
  return {static_cast<int>(p.q_len), static_cast<int>(p.kv_len), static_cast<int>(p.causal_offset()),
          p.mask == Mask::causal};
}

}  // namespace

KeyRanges visible(const Problem& problem, int64_t sequence, int64_t row) {
  return visible_key_ranges(mask_of(problem, sequence), static_cast<int>(row));
}

IndexRange seeing(const Problem& problem, int64_t sequence, int64_t first, int64_t end) {
  return seeing_queries(mask_of(problem, sequence), {static_cast<int>(first), static_cast<int>(end)});
}

int64_t unmasked_pairs(const Problem& problem) {
  if (problem.mask == Mask::full) return problem.q_len * problem.kv_len;
  // Rows that see at least one key: the last n of them, seeing kv_len - n + 1 .. kv_len keys.
  const int64_t n = std::min(problem.q_len, problem.kv_len);
  return n * (2 * problem.kv_len - n + 1) / 2;
}

}  // namespace attnprof
