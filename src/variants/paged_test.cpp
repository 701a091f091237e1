// K and V in pages: flash2 finds the same keys as in a dense cache, in other places.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "plan/skip.hpp"
#include "problem/flops.hpp"
#include "problem/kv_view.hpp"
#include "variants/registry.hpp"
#include "variants/test_machine.hpp"

namespace attnprof {
namespace {

const Variant& with_pages() { return *find_variant("flash2"); }

Problem paged(int64_t q_len, int64_t kv_len, Mask mask, int64_t page_size = 16) {
  return {.mask = mask,
          .batch = 3,
          .heads = 4,
          .kv_heads = 2,
          .q_len = q_len,
          .kv_len = kv_len,
          .head_dim = 32,
          .page_size = page_size};
}

TEST(Paged, EveryKeyHasAPlaceOfItsOwn) {
  for (const int64_t kv_len : {1, 16, 17, 300}) {
    const Problem p = paged(1, kv_len, Mask::full);
    const KvView view(p);
    const Operand k = operands(p)[operand_k];
    std::set<std::pair<int64_t, int64_t>> places;
    bool in_order = true;
    for (int64_t sequence = 0; sequence < p.batch; ++sequence)
      for (int64_t head = 0; head < p.kv_heads; ++head)
        for (int64_t key = 0; key < kv_len; ++key) {
          const KvView::Place at = view.row(sequence, head, key);
          EXPECT_TRUE(places.insert({at.slice, at.row}).second);
          EXPECT_TRUE(at.slice >= 0 && at.slice < k.slices() && at.row >= 0 && at.row < k.rows);
          EXPECT_EQ(at.slice % p.kv_heads, head);
          in_order = in_order && at.slice / p.kv_heads == sequence * view.pages() + key / 16;
        }
    EXPECT_FALSE(in_order) << "pages are shuffled";
  }
}

TEST(Paged, TheBlockTableSaysWhatTheViewDoes) {
  const Problem p = paged(1, 300, Mask::full);
  const KvView view(p);
  const Operand table = operands(p)[operand_block_table];
  EXPECT_EQ(table.row_pitch % 8, 0);
  const std::vector<float> numbers = input_elements(table, {}, 0, table.elements());
  for (int64_t sequence = 0; sequence < p.batch; ++sequence)
    for (int64_t page = 0; page < view.pages(); ++page)
      EXPECT_EQ(numbers[static_cast<size_t>(sequence * table.row_pitch + page)],
                static_cast<float>(view.page(sequence, page)));
}

TEST(Paged, EqualsTheReference) {
  for (const Mask mask : {Mask::full, Mask::causal})
    for (const auto& [q, k] : {std::pair<int64_t, int64_t>{1, 1}, {33, 129}, {129, 33}, {20, 64}})
      for (const int64_t page : {16, 24}) {
        const Problem p = paged(q, k, mask, page);
        const Verification result = verify_against_reference(run_variant(with_pages(), p, {32, 32}, true), p);
        EXPECT_EQ(result.verified, "yes") << q << " " << k << " " << page << " " << result.reason;
      }
}

TEST(Paged, ReadsWhatTheDenseCacheReadsAndTheTableOnceABlock) {
  Problem p = paged(128, 256, Mask::full);
  const TestMachine pages = run_variant(with_pages(), p, {32, 32}, false);
  p.page_size = 0;
  const TestMachine dense = run_variant(with_pages(), p, {32, 32}, false);
  for (const char* tensor : {"Q", "K", "V"})
    EXPECT_EQ(pages.traffic.read.at(tensor), dense.traffic.read.at(tensor));
  EXPECT_EQ(pages.traffic.written, dense.traffic.written);
  EXPECT_EQ(pages.traffic.executed, dense.traffic.executed);
  EXPECT_EQ(pages.traffic.read.at("block_table"), 3 * 4 * (128 / 32) * (256 / 16) * 4);
}

// Tails of pages and of the table's rows are nobody's input.
TEST(Paged, TheLowerBoundIsTheDenseCachesAndTheTable) {
  Problem p = paged(5, 17, Mask::full);
  const int64_t bound = io_lower_bound_bytes(p);
  p.page_size = 0;
  EXPECT_EQ(bound, io_lower_bound_bytes(p) + 3 * 2 * 4) << "two pages a sequence";
}

TEST(Paged, NoBackwardPassHasThem) {
  Case c;
  c.variant = find_variant("naive");
  c.problem = paged(64, 64, Mask::full);
  c.problem.pass = Pass::backward;
  c.tile = {32, 32};
  EXPECT_EQ(unsupported_reason(c, test_device()), "the backward pass takes dense K and V, not pages of 16");
  c.problem.page_size = 0, c.problem.dtype = Dtype::fp8;
  EXPECT_EQ(unsupported_reason(c, test_device()), "the backward pass takes fp32, fp16 and bf16, not fp8");
}

TEST(Paged, VariantsThatKnowNoPagesAreSkipped) {
  Case c;
  c.problem = paged(64, 64, Mask::full);
  c.tile = {32, 32};
  for (const Variant* variant : built_in_variants()) {
    c.variant = variant;
    const auto reason = unsupported_reason(c, test_device());
    if (variant->name == "flash2")
      EXPECT_EQ(reason, std::nullopt);
    else
      EXPECT_EQ(reason, fmt::format("{} does not have page_size = 16", variant->name));
  }
}

}  // namespace
}  // namespace attnprof
