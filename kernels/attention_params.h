// The one argument of every attention kernel, passed by value; shared by host and device, so plain C++ only.
#pragma once

// Element strides of a [batch, heads, rows, head_dim] tensor whose innermost dimension is dense.
struct AttentionStrides {
  long long batch;
  long long head;
  long long row;
};

constexpr int attention_max_workspaces = 8;   // of one variant
constexpr int attention_max_tensor_maps = 8;  // of one launch

// The tensors of all passes (src/problem/operands.hpp says which a problem has, with shapes and element
// types). A number is also the stream of random values that an input is made of: a new one is added before
// the workspaces, and none changes its place.
enum OperandId : int {
  operand_q,  // [batch, heads, q_len, head_dim]
  operand_k,  // [batch, kv_heads, kv_len, head_dim]; in pages [pages, kv_heads, PAGE_SIZE, head_dim]
  operand_v,  // like K
  operand_o,  // like Q
  // fp8: fp32 [batch, heads] and twice [batch, kv_heads]; value = e4m3 element * scale.
  operand_q_scale,
  operand_k_scale,
  operand_v_scale,
  // Of the backward pass.
  operand_lse,          // fp32 [batch, heads, q_len]: log of the sum of exponentials of a row of scale Q K^T
  operand_d_o,          // like O
  operand_d_q,          // like Q
  operand_d_k,          // like K
  operand_d_v,          // like V
  operand_block_table,  // int32 [batch, pages of a sequence]: the page of K and V that has its next keys
  operand_workspace,    // the variant's own, in the order of Variant::workspace; the last ids
  operand_ids = operand_workspace + attention_max_workspaces,
};

// One tensor of the problem or of the variant's workspace; `data` is null where there is none.
struct AttentionTensor {
  void* data;
  AttentionStrides strides;
};

// A CUtensorMap as the bulk-copy engine (TMA) reads it: 128 opaque bytes. PTX ISA, cp.async.bulk.tensor: its
// address is a multiple of 64.
struct alignas(64) AttentionTensorMap {
  unsigned long long opaque[16];
};

// Constants arrive as macros: DTYPE (0 fp32, 1 fp16, 2 bf16, 3 fp8), HEAD_DIM, TILE_BR, TILE_BC, CAUSAL (0 or
// 1); PAGE_SIZE where K and V are in pages of so many keys.
struct AttentionParams {
  AttentionTensor tensors[operand_ids];  // by id
  int batch;
  int heads;
  int kv_heads;  // query head h reads kv head h / (heads / kv_heads)
  int q_len;
  int kv_len;
  int causal_offset;  // kv_len - q_len: query i sees key j when j <= i + causal_offset
  float scale;        // 1 / sqrt(head_dim)
  AttentionTensorMap tensor_maps[attention_max_tensor_maps];  // this launch's, by KernelLaunch::tensor_maps
};
