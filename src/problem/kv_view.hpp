// Where the keys and values of a sequence lie in K and V: asked by references and schedules.
#pragma once

#include <algorithm>
#include <cstdint>

#include "problem/problem.hpp"

namespace attnprof {

// Dense: K and V are [batch, kv_heads, kv_len, head_dim], a sequence's keys lie one after another.
class KvView {
 public:
  explicit KvView(const Problem& problem) : kv_heads_(problem.kv_heads) {}

  // A row of K, and the same one of V.
  struct Place {
    int64_t slice, row;
  };
  Place row(int64_t sequence, int64_t kv_head, int64_t key) const {
    return {sequence * kv_heads_ + kv_head, key};
  }

  // Calls f(place of the first, how many) for keys [first, end), in pieces whose rows follow one another in
  // one slice.
  template <typename F>
  void for_each_piece(int64_t sequence, int64_t kv_head, int64_t first, int64_t end, F f) const {
    if (first < end) f(row(sequence, kv_head, first), end - first);
  }

 private:
  int64_t kv_heads_;
};

}  // namespace attnprof
