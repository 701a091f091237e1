// FP8 in schedules: which variants refuse it, and the scales of heads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "problem/operands.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// Why a variant without fp8 cannot run this problem, if that is what it asks for. `takes`: "fp16 and bf16".
std::optional<std::string> fp8_unsupported(std::string_view variant, std::string_view takes,
                                           const Problem& problem);

// Reads one head's scale from operand_q_scale, operand_k_scale or operand_v_scale: one sector. `slice`: of
// that operand. 1, and nothing read, where the problem has no scales; 1 on a machine without numbers.
float read_scale(const Problem& problem, OperandId scale_operand, int64_t slice, TileMachine& machine);

// The values that elements stand for.
TileValues dequantised(TileValues elements, float scale);

}  // namespace attnprof
