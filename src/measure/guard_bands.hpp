// Bands on both sides of a tensor that are NaN in every dtype: a write that misses its tensor shows in them,
// and what is computed from a read that misses it is NaN.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "problem/rounding.hpp"

namespace attnprof {

inline constexpr int64_t guard_bytes = 64 << 10;  // on each side; keeps a tensor's alignment
// A NaN that a kernel wrote shows too: that of the hardware has a byte of 0x7F.
inline constexpr uint8_t guard_byte = nan_byte;

// Bytes of a band that are no longer what they were.
inline int64_t overwritten_bytes(std::span<const uint8_t> band) {
  return std::ranges::count_if(band, [](uint8_t byte) { return byte != guard_byte; });
}

// A sentence where bytes were written beside operand `name`; empty where none were.
inline std::string guard_sentence(std::string_view name, int64_t bytes, int64_t before, int64_t beyond) {
  const auto sentence = [&](int64_t count, std::string_view side) {
    return fmt::format("wrote {} bytes {} {}, which has {} bytes; keep to its sizes and strides", count, side,
                       name, bytes);
  };
  return beyond > 0 ? sentence(beyond, "beyond") : before > 0 ? sentence(before, "before") : "";
}

}  // namespace attnprof
