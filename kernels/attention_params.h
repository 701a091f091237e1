// The one argument of every attention kernel, passed by value; shared by host and device, so plain C++ only.
#pragma once

// Element strides of a [batch, heads, rows, head_dim] tensor whose innermost dimension is dense.
struct AttentionStrides {
  long long batch;
  long long head;
  long long row;
};

constexpr int attention_max_workspaces = 4;
constexpr int attention_max_tensor_maps = 8;

// A CUtensorMap as the bulk-copy engine (TMA) reads it: 128 opaque bytes. PTX ISA, cp.async.bulk.tensor: its
// address is a multiple of 64.
struct alignas(64) AttentionTensorMap {
  unsigned long long opaque[16];
};

// Constants arrive as macros: DTYPE (0 fp32, 1 fp16, 2 bf16, 3 fp8), HEAD_DIM, TILE_BR, TILE_BC, CAUSAL (0 or
// 1).
struct AttentionParams {
  const void* q;                              // [batch, heads, q_len, head_dim]
  const void* k;                              // [batch, kv_heads, kv_len, head_dim]
  const void* v;                              // [batch, kv_heads, kv_len, head_dim]
  void* o;                                    // [batch, heads, q_len, head_dim]
  void* workspace[attention_max_workspaces];  // the variant's own, in the order of Variant::workspace
  AttentionStrides q_strides;
  AttentionStrides k_strides;
  AttentionStrides v_strides;
  AttentionStrides o_strides;
  int batch;
  int heads;
  int kv_heads;  // query head h reads kv head h / (heads / kv_heads)
  int q_len;
  int kv_len;
  int causal_offset;  // kv_len - q_len: query i sees key j when j <= i + causal_offset
  float scale;        // 1 / sqrt(head_dim)
  // fp8, else null: fp32 [batch, heads] and [batch, kv_heads]; value = e4m3 element * scale. O is bf16 then.
  const float* q_scale;
  const float* k_scale;
  const float* v_scale;
  AttentionTensorMap tensor_maps[attention_max_tensor_maps];  // this launch's, by KernelLaunch::tensor_maps
};
