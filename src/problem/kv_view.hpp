// Where the keys and values of a sequence lie in K and V: asked by references and schedules.
#pragma once

#include <algorithm>
#include <cstdint>

#include "lib/kv_pages.h"
#include "problem/problem.hpp"

namespace attnprof {

// Dense: K and V are [batch, kv_heads, kv_len, head_dim], a sequence's keys lie one after another. In pages:
// they are [pages, kv_heads, page_size, head_dim], and a sequence's pages lie anywhere.
class KvView {
 public:
  explicit KvView(const Problem& problem) : p_(problem) {}

  // A row of K, and the same one of V.
  struct Place {
    int64_t slice, row;
  };
  Place row(int64_t sequence, int64_t kv_head, int64_t key) const {
    if (p_.page_size == 0) return {sequence * p_.kv_heads + kv_head, key};
    return {page(sequence, key / p_.page_size) * p_.kv_heads + kv_head, key % p_.page_size};
  }

  // Calls f(place of the first, how many) for keys [first, end), in pieces whose rows follow one another in
  // one slice.
  template <typename F>
  void for_each_piece(int64_t sequence, int64_t kv_head, int64_t first, int64_t end, F f) const {
    while (first < end) {
      const int64_t next = p_.page_size == 0 ? end : std::min(end, (first / p_.page_size + 1) * p_.page_size);
      f(row(sequence, kv_head, first), next - first);
      first = next;
    }
  }

  // Pages of one sequence, the last of which may be used in part.
  int64_t pages() const { return p_.page_size == 0 ? 0 : (p_.kv_len + p_.page_size - 1) / p_.page_size; }
  // What its block table has for its page `index`.
  int64_t page(int64_t sequence, int64_t index) const {
    return shuffled_page(sequence * pages() + index, p_.batch * pages());
  }

 private:
  Problem p_;
};

}  // namespace attnprof
