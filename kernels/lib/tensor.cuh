// Tensors of AttentionParams by their id.
#pragma once

#include "attention_params.h"

// First element of one (batch, head) slice.
template <typename T>
__device__ inline T* slice_of(const AttentionParams& p, OperandId id, long long batch, long long head) {
  const AttentionTensor& tensor = p.tensors[id];
  return static_cast<T*>(tensor.data) + batch * tensor.strides.batch + head * tensor.strides.head;
}

// Elements from one row of a tensor to the next.
__device__ inline long long row_stride(const AttentionParams& p, OperandId id) {
  return p.tensors[id].strides.row;
}

// First element of one of the variant's own tensors, in the order of Variant::workspace.
template <typename T>
__device__ inline T* workspace_of(const AttentionParams& p, int index) {
  return static_cast<T*>(p.tensors[operand_workspace + index].data);
}
