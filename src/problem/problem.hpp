// A problem: one attention operation by its shapes, and what any implementation of it must compute.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "problem/element_type.hpp"

namespace attnprof {

// An index into the list of passes (problem/passes.hpp), which has their names.
enum class Pass : int { forward, backward };
// fp8: Q, K and V are e4m3 with one fp32 scale a head (value = element * scale); O is bf16.
enum class Dtype { fp32, fp16, bf16, fp8 };
enum class Mask { full, causal };

std::string_view to_string(Dtype dtype);
std::string_view to_string(Mask mask);
std::optional<Dtype> parse_dtype(std::string_view text);  // "e4m3" is fp8 too
std::optional<Mask> parse_mask(std::string_view text);
// Of Q, K and V.
constexpr ElementType element_of(Dtype dtype) { return static_cast<ElementType>(dtype); }
static_assert(element_of(Dtype::fp16) == ElementType::fp16 && element_of(Dtype::bf16) == ElementType::bf16 &&
              element_of(Dtype::fp8) == ElementType::e4m3 && element_of(Dtype::fp32) == ElementType::fp32);
// Of O.
constexpr ElementType output_element(Dtype dtype) {
  return dtype == Dtype::fp8 ? ElementType::bf16 : element_of(dtype);
}
inline int64_t bytes_per_element(Dtype dtype) { return bytes_per_element(element_of(dtype)); }

// Attention of every sequence (batch) and query head; problem/passes.hpp says what a pass computes of it.
// problem_fields.hpp lists the members: names, texts, options, and what their absence from a file means.
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
  int64_t page_size = 0;  // keys of a page of K and V; 0: they are dense
  int64_t further = 0;    // value of a field that a test registers (FurtherField)

  int64_t group() const { return heads / kv_heads; }
  // The causal mask is aligned to the bottom right: query i sees key j when j <= i + causal_offset().
  int64_t causal_offset() const { return kv_len - q_len; }
  bool operator==(const Problem&) const = default;
};

}  // namespace attnprof
