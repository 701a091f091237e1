// Identities of rows for tests.
#pragma once

#include <string>

#include "row/row.hpp"

namespace attnprof {

// A forward fp16 problem of 16 heads and 64 elements a head, at the variant's own tile.
inline Identity row_identity(const std::string& variant, int64_t batch, int64_t length) {
  const Problem problem{.batch = batch, .heads = 16, .kv_heads = 16, .q_len = length, .kv_len = length};
  return {variant, ProblemCells(problem), "auto", "-", "cold"};
}

}  // namespace attnprof
