// What the unfused variants share: S and P in device memory, and the row softmax between them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "schedule/variant.hpp"

namespace attnprof {

inline constexpr OperandId operand_s = workspace_id(0), operand_p = workspace_id(1);

// S and P in the problem's dtype, [batch, heads, q_len, kv_len rounded up to 16]: rows start on a 32-byte
// sector. The padding belongs to the tensors; no result depends on it.
std::vector<Operand> score_workspace(const Problem& p);

// Columns of its row that a query reads of S and writes of P, multiples of 16.
struct SoftmaxColumns {
  int64_t read;
  int64_t write;
};

// The softmax launch: P = softmax(scale S) over visible keys, zeros in the other columns written.
// `columns(i)`: what query i of every slice reads and writes.
Step softmax_step(const Problem& p, KernelLaunch kernel, float scale,
                  std::function<SoftmaxColumns(int64_t row)> columns);

// Why a row of S is too long for the block that keeps it in registers.
std::optional<std::string> row_too_long(std::string_view variant, const Problem& p);

}  // namespace attnprof
