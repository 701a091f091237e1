// A plug-in that launches a CUDA kernel: that of kernels/example/, for one head_dim. From the folder of
// attnprof's sources (installed: attnprof_plugin.h is in include/, kernels/ in share/attnprof/):
//
//   nvcc -shared -Xcompiler -fPIC -arch=sm_90a -std=c++17 -Isrc/plugin -Ikernels -Ikernels/example
//        src/plugin/example/example_plugin.cu -o libexample.so
//   attnprof sweep --plugin ./libexample.so -N 512,1k -d 64
#include <cstdio>

#define DTYPE 1  // fp16
#define HEAD_DIM 64
#define TILE_BR 32
#define TILE_BC 32
#define CAUSAL 0
#define WARPS 8
#include "attnprof_plugin.h"
#include "example.cu"

namespace {

int describe(attnprof_description* description, char*) {
  description->name = "example_plugin";
  description->idea = "the kernel of kernels/example, launched by a plug-in";
  description->takes = "fp16; head_dim 64; mask full";
  return 0;
}

int supports(const attnprof_problem* p, const attnprof_device*, char* message) {
  if (p->dtype == ATTNPROF_FP16 && p->head_dim == HEAD_DIM && p->mask == ATTNPROF_FULL) return 0;
  std::snprintf(message, ATTNPROF_MESSAGE_SIZE, "it takes fp16, head_dim 64 and no mask alone");
  return 1;
}

int workspace(const attnprof_problem*, int64_t* bytes, char*) {
  *bytes = 0;
  return 0;
}

// Here a plug-in would load modules, choose plans and make handles, and hand them to launch in *state.
int prepare(const attnprof_problem*, const attnprof_device*, void** state, char*) {
  *state = nullptr;
  return 0;
}

AttentionStrides strides(const attnprof_strides& s) { return {s.batch, s.head, s.row}; }

int launch(void*, const attnprof_params* params, void* stream, char* message) {
  const attnprof_problem& size = *params->problem;
  AttentionParams p{};
  p.tensors[operand_q] = {const_cast<void*>(params->q), strides(params->q_strides)};
  p.tensors[operand_k] = {const_cast<void*>(params->k), strides(params->k_strides)};
  p.tensors[operand_v] = {const_cast<void*>(params->v), strides(params->v_strides)};
  p.tensors[operand_o] = {params->o, strides(params->o_strides)};
  p.batch = int(size.batch), p.heads = int(size.heads), p.kv_heads = int(size.kv_heads);
  p.q_len = int(size.q_len), p.kv_len = int(size.kv_len);
  p.causal_offset = int(size.kv_len - size.q_len);
  p.scale = params->scale;
  const dim3 grid(unsigned(size.q_len + TILE_BR - 1) / TILE_BR, unsigned(size.heads), unsigned(size.batch));
  const size_t smem = 2 * TILE_BC * HEAD_DIM * sizeof(Element);
  example_forward<<<grid, WARPS * lanes, smem, static_cast<cudaStream_t>(stream)>>>(p);
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::snprintf(message, ATTNPROF_MESSAGE_SIZE, "%s", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}

const attnprof_plugin_api api = {
    ATTNPROF_PLUGIN_ABI, describe, supports, workspace, prepare, launch, nullptr, nullptr};

}  // namespace

const attnprof_plugin_api* attnprof_plugin(void) { return &api; }
