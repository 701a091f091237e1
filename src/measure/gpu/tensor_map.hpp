// Tensor maps for the bulk-copy engine (TMA), encoded by the driver from what a step says.
#pragma once

#include <array>
#include <cstdint>

#include "attention_params.h"
#include "measure/gpu/driver.hpp"
#include "problem/operands.hpp"
#include "schedule/step.hpp"

namespace attnprof {

// The arguments of cuTensorMapEncodeTiled that depend on operand and box; innermost dimension first.
struct TensorMapLayout {
  CUtensorMapDataType type;
  std::array<cuuint64_t, 3> sizes;         // elements: columns, rows, slices
  std::array<cuuint64_t, 2> stride_bytes;  // of a row and of a slice
  std::array<cuuint32_t, 3> box;           // elements
  CUtensorMapSwizzle swizzle;
};

// Throws CaseFailed with a sentence for what the engine cannot do (CUDA driver API, cuTensorMapEncodeTiled):
// rows at no multiple of 16 bytes, a box over 256 a side, a box row that is no multiple of 16 bytes or longer
// than the swizzle.
TensorMapLayout tensor_map_layout(const TensorMap& map, const Operand& operand);

// `address`: the operand's first byte on the device. Elements out of bounds read as zeros. Throws CaseSkipped
// when the driver is too old to know tensor maps, CaseFailed as above and when the driver refuses.
AttentionTensorMap encode_tensor_map(const TensorMap& map, const Operand& operand, void* address,
                                     const Driver& driver);

}  // namespace attnprof
