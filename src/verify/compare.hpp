// Outputs on the host against the pass's reference.
#pragma once

#include <cstdint>
#include <functional>

#include "problem/passes.hpp"
#include "row/row.hpp"

namespace attnprof {

// Holds every output against the reference, in the rows that rows_to_verify names. `values`: of inputs and
// outputs alike. `before_row` is called before each row and may throw.
Verification compare_on_host(
    const Problem& problem, const OperandValues& values, uint64_t seed, bool full,
    const std::function<void()>& before_row = [] {});

}  // namespace attnprof
