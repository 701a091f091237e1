// The tensors of a problem, derived once: verification, poisoning, memory checks and the lower bound all use
// them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/saturating.hpp"
#include "problem/problem.hpp"

namespace attnprof {

enum class Role { input, output, workspace };
enum class Init {
  random,  // fresh values from the sweep's seed (problem/inputs.hpp)
  scale,   // an fp8 head's, from the seed too
  poison,  // NaN bit patterns: an element that is never written shows
  zero,
};

// One tensor, dense and row-major: [batch, heads, rows, row_pitch], of which `cols` elements of a row are
// used.
struct Operand {
  std::string name;  // the paper's: Q, K, V, O, S, P, m, l
  Role role;
  Init init;
  Dtype dtype;
  int64_t batch;
  int64_t heads;
  int64_t rows;
  int64_t cols;
  int64_t row_pitch;  // elements from one row to the next, >= cols

  int64_t slices() const { return saturating_product({batch, heads}); }
  // Saturated (base/saturating.hpp), like all sums of bytes here.
  int64_t elements() const { return saturating_product({batch, heads, rows, row_pitch}); }
  int64_t bytes() const { return saturating_product({elements(), bytes_per_element(dtype)}); }
};

// Positions of the forward pass's tensors in every operand list. A variant's workspace follows them: from
// operand_workspace on where there are no scales, else after those (first_workspace).
enum ForwardOperand : int {
  operand_q,
  operand_k,
  operand_v,
  operand_o,
  operand_workspace,
  operand_q_scale = operand_workspace,  // fp8 alone
  operand_k_scale,
  operand_v_scale,
};

constexpr int first_workspace(const Problem& problem) {
  return problem.dtype == Dtype::fp8 ? operand_v_scale + 1 : operand_workspace;
}

// Q [batch, heads, q_len, head_dim], K and V [batch, kv_heads, kv_len, head_dim], O like Q in output_dtype.
// fp8 alone: the scales of Q [batch, heads], of K and of V [batch, kv_heads], fp32, each a slice of one
// element.
std::vector<Operand> operands(const Problem& problem);

// Bytes any implementation must move: each input read once, each output written once.
int64_t io_lower_bound_bytes(const Problem& problem);

int64_t total_bytes(const std::vector<Operand>& operands);

}  // namespace attnprof
