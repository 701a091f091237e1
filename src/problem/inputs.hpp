// The values of a case's inputs on the host: the same bits that the device makes
// (kernels/lib/random_value.h).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "problem/operands.hpp"

namespace attnprof {

// Numbers as AttentionInput's.
enum class InputKind {
  normal,    // near N(0, 1)
  outliers,  // N(0, 1) + N(0, 100) Bernoulli(0.001)
};

std::string_view to_string(InputKind kind);
std::string_view describe(InputKind kind);  // its distribution, for people

// What makes the inputs of one case.
struct InputSource {
  uint64_t seed = 1;
  InputKind kind = InputKind::normal;
};

// A whole block table (Init::pages), as stored: -1 beyond a sequence's pages. Up to 2^31 pages.
std::vector<int32_t> page_numbers(const Operand& table);

// Elements [first, first + count) of an input, in the order of memory, as stored: rounded to its dtype, of
// fp8 not yet multiplied by the scale.
std::vector<float> input_elements(const Operand& operand, const InputSource& source, int64_t first,
                                  int64_t count);

}  // namespace attnprof
