#include "problem/problem.hpp"

#include <algorithm>

namespace attnprof {

std::string_view to_string(Pass) { return "fwd"; }

std::string_view to_string(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return "fp32";
    case Dtype::fp16:
      return "fp16";
    case Dtype::bf16:
      return "bf16";
    case Dtype::fp8:
      return "fp8";
  }
  return "";
}

std::string_view to_string(Mask mask) { return mask == Mask::causal ? "causal" : "full"; }

std::optional<Pass> parse_pass(std::string_view text) {
  return text == to_string(Pass::forward) ? std::optional(Pass::forward) : std::nullopt;
}

std::optional<Dtype> parse_dtype(std::string_view text) {
  for (Dtype dtype : {Dtype::fp32, Dtype::fp16, Dtype::bf16, Dtype::fp8})
    if (text == to_string(dtype)) return dtype;
  if (text == "e4m3") return Dtype::fp8;
  return std::nullopt;
}

std::optional<Mask> parse_mask(std::string_view text) {
  for (Mask mask : {Mask::full, Mask::causal})
    if (text == to_string(mask)) return mask;
  return std::nullopt;
}

int64_t bytes_per_element(Dtype dtype) {
  switch (dtype) {
    case Dtype::fp32:
      return 4;
    case Dtype::fp16:
    case Dtype::bf16:
      return 2;
    case Dtype::fp8:
      return 1;
  }
  return 0;
}

int64_t visible_keys(const Problem& problem, int64_t i) {
  if (problem.mask == Mask::full) return problem.kv_len;
  return std::clamp<int64_t>(i + problem.causal_offset() + 1, 0, problem.kv_len);
}

int64_t unmasked_pairs(const Problem& problem) {
  if (problem.mask == Mask::full) return problem.q_len * problem.kv_len;
  // Rows that see at least one key: the last n of them, seeing kv_len - n + 1 .. kv_len keys.
  const int64_t n = std::min(problem.q_len, problem.kv_len);
  return n * (2 * problem.kv_len - n + 1) / 2;
}

int64_t useful_flops(const Problem& problem) {
  return 4 * problem.head_dim * unmasked_pairs(problem) * problem.heads * problem.batch;
}

int64_t half_square_flops(const Problem& problem) {
  const int64_t square =
      4 * problem.head_dim * problem.q_len * problem.kv_len * problem.heads * problem.batch;
  return problem.mask == Mask::causal ? square / 2 : square;
}

}  // namespace attnprof
