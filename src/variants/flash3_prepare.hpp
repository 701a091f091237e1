// The preparation of flash3 in FP8: V^T, because wgmma takes 8-bit operands only with the summed dimension
// contiguous.
#pragma once

#include "problem/operands.hpp"
#include "schedule/step.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// Workspace V^T [batch, kv_heads, head_dim, kv_len rounded up to v_column_group] in e4m3: column v_column(j)
// of row c is element c of key j; columns without a key are zero (kernels/lib/flash3_layout.h).
Operand transposed_v(const Problem& problem);

// Reads columns [key, key + keys) of one slice of V^T and returns the keys of V they hold, [keys, head_dim];
// `key` and `keys` are multiples of v_column_group.
TileValues read_transposed_v(const Problem& problem, OperandId vt_operand, int64_t slice, int64_t key,
                             int64_t keys, TileMachine& machine);

// "transpose_v": reads V whole once and writes V^T, a workspace, whole once. head_dim is a multiple of 32.
// Not `timed`: it runs once before the operation.
Step transpose_v_step(const Problem& problem, OperandId vt_operand, bool timed);

}  // namespace attnprof
