// What one element of a tensor in memory is.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace attnprof {

// Numbers as kernels take them that learn an element's type when they run (kernels/lib/load_element.cuh); the
// floating-point ones as macro DTYPE, and as Dtype.
enum class ElementType { fp32, fp16, bf16, e4m3, int32 };

std::string_view to_string(ElementType type);
std::optional<ElementType> parse_element_type(std::string_view text);  // "fp8" is e4m3 too
int64_t bytes_per_element(ElementType type);

}  // namespace attnprof
