// Arguments of the kernels in harness.cu that take more than a few pointers; shared by host and device.
#pragma once

#include "attention_params.h"

// The problem and the device's own tensors, as the fp64 references read them.
struct ReferenceParams {
  AttentionTensor tensors[operand_ids];
  int types[operand_ids];  // of elements: 0 fp32, 1 fp16, 2 bf16, 3 e4m3, 4 int32
  const long long* rows;   // [row_count] of the output: slice * rows of a slice + row
  double* expected;        // [row_count, head_dim]
  double* scratch;         // what the pass's first kernel leaves for its second; null: nothing
  long long row_count;
  OperandId output;
  int batch;
  int heads;
  int kv_heads;
  int q_len;
  int kv_len;
  int head_dim;  // up to 1024
  int causal;    // 1: query i sees key j when j <= i + kv_len - q_len
};

// What copy_bulk stages through shared memory at a time: sizes are multiples of it.
enum : unsigned { copy_bulk_chunk_bytes = 8192 };
