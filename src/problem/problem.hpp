// A problem: one attention operation by its shapes, and what any implementation of it must compute.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attnprof {

enum class Pass { forward };
// fp8: Q, K and V are e4m3 with one fp32 scale a head (value = element * scale); O is bf16.
enum class Dtype { fp32, fp16, bf16, fp8 };
enum class Mask { full, causal };

std::string_view to_string(Pass pass);
std::string_view to_string(Dtype dtype);
std::string_view to_string(Mask mask);
std::optional<Pass> parse_pass(std::string_view text);
std::optional<Dtype> parse_dtype(std::string_view text);  // "e4m3" is fp8 too
std::optional<Mask> parse_mask(std::string_view text);
int64_t bytes_per_element(Dtype dtype);
// Of O, for Q, K and V of `dtype`.
constexpr Dtype output_dtype(Dtype dtype) { return dtype == Dtype::fp8 ? Dtype::bf16 : dtype; }

// O = softmax(Q K^T / sqrt(head_dim) + mask) V, for every batch and query head. problem_fields.hpp lists the
// members: names, texts, options, and what their absence from a file means.
struct Problem {
  Pass pass = Pass::forward;
  Dtype dtype = Dtype::fp16;
  Mask mask = Mask::full;
  int64_t batch = 1;
  int64_t heads = 16;     // query heads
  int64_t kv_heads = 16;  // divides heads; query head h reads kv head h / (heads / kv_heads)
  int64_t q_len = 0;
  int64_t kv_len = 0;
  int64_t head_dim = 64;
  int64_t further = 0;  // value of a field that a test registers (FurtherField)

  int64_t group() const { return heads / kv_heads; }
  // The causal mask is aligned to the bottom right: query i sees key j when j <= i + causal_offset().
  int64_t causal_offset() const { return kv_len - q_len; }
  bool operator==(const Problem&) const = default;
};

// Keys that query row `i` sees: a prefix [0, n) of the kv_len keys. Zero is possible when q_len > kv_len and
// causal; such a row's output is zero.
int64_t visible_keys(const Problem& problem, int64_t i);

// Unmasked (query, key) pairs of one query head: an exact count, the sum of visible_keys over all rows.
int64_t unmasked_pairs(const Problem& problem);

// FLOPs of the two matrix products (QK^T and PV) over unmasked pairs, 4 head_dim a pair, all heads and
// batches. Softmax is not counted.
int64_t useful_flops(const Problem& problem);

// FlashAttention's convention: the full q_len x kv_len product, halved when causal.
int64_t half_square_flops(const Problem& problem);

}  // namespace attnprof
