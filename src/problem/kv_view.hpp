// Where the keys and values of a sequence lie in K and V: asked by references and schedules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "problem/problem.hpp"

namespace attnprof {

// Numbers 0, 1, ... of pages in an order as a cache that has been in use for a while has them: a fixed
// shuffle.
class PageShuffle {
 public:
  explicit PageShuffle(int64_t pages) : pages_(pages) {
    if (pages == 0) return;
    step_ = pages * 5 / 8 + 1;  // near the golden ratio of `pages`
    while (std::gcd(step_, pages) != 1) ++step_;
  }
  int64_t operator()(int64_t index) const { return index * step_ % pages_; }

 private:
  int64_t pages_, step_ = 1;
};

// Dense: K and V are [batch, kv_heads, kv_len, head_dim], a sequence's keys lie one after another. In pages:
// they are [pages, kv_heads, page_size, head_dim], and a sequence's pages lie anywhere.
class KvView {
 public:
  explicit KvView(const Problem& problem) : p_(problem), shuffle_(problem.batch * pages()) {}

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
  int64_t page(int64_t sequence, int64_t index) const { return shuffle_(sequence * pages() + index); }

 private:
  Problem p_;
  PageShuffle shuffle_;
};

}  // namespace attnprof
