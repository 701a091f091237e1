// Arithmetic the schedules share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "problem/operands.hpp"
#include "problem/problem.hpp"
#include "problem/problem_fields.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

constexpr int64_t sector_floats = 8;  // of one 32-byte sector

// Slice of K and V that query slice `q_slice` (batch * heads + head) reads.
inline int64_t kv_slice(const Problem& p, int64_t q_slice) {
  return q_slice / p.heads * p.kv_heads + q_slice % p.heads / p.group();
}

// K, V tiles of `bc` rows that the query rows [row, row + rows) need: those with at least one unmasked pair.
inline int64_t visible_tiles(const Problem& p, int64_t row, int64_t rows, int64_t bc) {
  const int64_t last_row = std::min(row + rows, p.q_len) - 1;
  return ceil_div(visible_keys(p, last_row), bc);
}

// Rows [row, row + tile_rows) of a slice, all columns, clipped to the operand.
inline Region row_tile(int operand, const Operand& shape, int64_t slice, int64_t row, int64_t tile_rows) {
  return {operand, slice, row, std::min(tile_rows, shape.rows - row), 0, shape.cols};
}

// The macros every kernel is compiled with (kernels/attention_params.h); of later fields of the problem those
// that are not at their absent value, so that kernels without them stay what they were.
inline std::vector<std::pair<std::string, std::string>> kernel_macros(const Problem& p, int br, int bc) {
  std::vector<std::pair<std::string, std::string>> macros = {
      {"DTYPE", std::to_string(static_cast<int>(p.dtype))},
      {"HEAD_DIM", std::to_string(p.head_dim)},
      {"TILE_BR", std::to_string(br)},
      {"TILE_BC", std::to_string(bc)},
      {"CAUSAL", p.mask == Mask::causal ? "1" : "0"}};
  for (const ProblemField& field : problem_fields())
    if (!field.macro.empty() && field.tells(p)) macros.emplace_back(field.macro, field.text(p));
  return macros;
}

}  // namespace attnprof
