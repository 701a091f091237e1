#include "problem/element_type.hpp"

namespace attnprof {

std::string_view to_string(ElementType type) {
  switch (type) {
    case ElementType::fp32:
      return "fp32";
    case ElementType::fp16:
      return "fp16";
    case ElementType::bf16:
      return "bf16";
    case ElementType::e4m3:
      return "e4m3";
    case ElementType::int32:
      return "int32";
  }
  return "";
}

std::optional<ElementType> parse_element_type(std::string_view text) {
  using enum ElementType;
  for (ElementType type : {fp32, fp16, bf16, e4m3, int32})
    if (text == to_string(type)) return type;
  return text == "fp8" ? std::optional(e4m3) : std::nullopt;
}

int64_t bytes_per_element(ElementType type) {
  switch (type) {
    case ElementType::fp32:
    case ElementType::int32:
      return 4;
    case ElementType::fp16:
    case ElementType::bf16:
      return 2;
    case ElementType::e4m3:
      return 1;
  }
  return 0;
}

}  // namespace attnprof
