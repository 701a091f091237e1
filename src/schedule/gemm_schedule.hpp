// What a library's matrix products move.
#pragma once

#include "problem/operands.hpp"
#include "schedule/step.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// C = alpha op(A) op(B) + beta C in tiles that stand in for those that the library chooses (Schedule::exact
// is false): panels of A and B over the whole of k, C written once. Where an operand has more slices than
// there are products, as query heads have that share a kv head, a product takes the rows of so many slices as
// one matrix. Operands' rows must follow one another as the launch's strides say.
Schedule gemm_schedule(const GemmLaunch& gemm, const OperandList& operands);

}  // namespace attnprof
