// Arguments of the kernels in harness.cu that take more than a few pointers; shared by host and device.
#pragma once

// The problem and the device's own tensors, as the fp64 reference reads them.
struct ReferenceParams {
  const void* q;          // [batch, heads, q_len, head_dim], dense
  const void* k;          // [batch, kv_heads, kv_len, head_dim], dense
  const void* v;          // like k
  const float* q_scale;   // [batch, heads] what elements are multiplied by; null: 1
  const float* k_scale;   // [batch, kv_heads]
  const float* v_scale;   // like k_scale
  const long long* rows;  // [row_count]: slice * q_len + row of the query, slice = batch * heads + head
  double* expected;       // [row_count, head_dim]
  long long row_count;
  int dtype;  // 0 fp32, 1 fp16, 2 bf16, 3 fp8
  int heads;
  int kv_heads;
  int q_len;
  int kv_len;
  int head_dim;  // up to 1024
  int causal;    // 1: query i sees key j when j <= i + kv_len - q_len
};

// What copy_bulk stages through shared memory at a time: sizes are multiples of it.
enum : unsigned { copy_bulk_chunk_bytes = 8192 };
