#include "problem/problem.hpp"

namespace attnprof {

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

}  // namespace attnprof
