#include "problem/visible.hpp"

#include <gtest/gtest.h>

namespace attnprof {
namespace {

// Q and K of unequal lengths, so that some rows see nothing.
std::vector<Problem> shapes() {
  std::vector<Problem> all;
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const int64_t q_len : {1, 7, 20})
      for (const int64_t kv_len : {1, 7, 20}) all.push_back({.mask = mask, .q_len = q_len, .kv_len = kv_len});
  return all;
}

bool sees(const Problem& p, int64_t row, int64_t key) {
  return p.mask == Mask::full || key <= row + p.kv_len - p.q_len;
}

bool in(const KeyRanges& keys, int64_t key) {
  for (int i = 0; i < keys.count; ++i)
    if (keys.at[i].first <= key && key < keys.at[i].end) return true;
  return false;
}

TEST(Visible, RangesHaveTheKeysThatTheMaskLeaves) {
  for (const Problem& p : shapes()) {
    int64_t pairs = 0;
    for (int64_t row = 0; row < p.q_len; ++row) {
      const KeyRanges keys = visible(p, 0, row);
      for (int64_t key = 0; key < p.kv_len; ++key) ASSERT_EQ(in(keys, key), sees(p, row, key));
      for (int i = 0; i < keys.count; ++i) ASSERT_LT(keys.at[i].first, keys.at[i].end);
      EXPECT_EQ(last_end(keys), keys.count > 0 ? keys.at[keys.count - 1].end : 0);
      pairs += key_count(keys);
    }
    EXPECT_EQ(unmasked_pairs(p), pairs);
  }
}

TEST(Visible, QueriesThatSeeAKeyAreTheOnesWhoseRangesHaveIt) {
  for (const Problem& p : shapes())
    for (int64_t first = 0; first < p.kv_len; ++first)
      for (const int64_t end : {first + 1, p.kv_len}) {
        const IndexRange rows = seeing(p, 0, first, end);
        for (int64_t row = 0; row < p.q_len; ++row) {
          bool any = false;
          for (int64_t key = first; key < end; ++key) any = any || sees(p, row, key);
          ASSERT_EQ(rows.first <= row && row < rows.end, any);
        }
      }
}

}  // namespace
}  // namespace attnprof
