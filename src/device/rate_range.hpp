// What a rate, a clock or a time of a device can be.
#pragma once

namespace attnprof {

// Finite, too: a file may say 1e308.
constexpr bool is_rate(double rate) { return rate > 0 && rate <= 1e18; }

}  // namespace attnprof
