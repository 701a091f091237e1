/* A plug-in of attnprof: attention of your own, as a shared library.
 *
 * Build it against this header, export attnprof_plugin(), and give it to attnprof:
 *
 *     nvcc -shared -Xcompiler -fPIC -arch=sm_90a -I<folder of this header> mine.cu -o libmine.so
 *     attnprof list --plugin ./libmine.so
 *     attnprof sweep --plugin ./libmine.so -N 1k:16k:x2 -d 64,128 -o out.csv
 *
 * Whatever launches on a CUDA stream fits: a CUTLASS kernel, a Triton cubin, cuDNN. attnprof owns the
 * tensors, checks the output against fp64, times and counts. It runs the library's code in processes of their
 * own: describe, supports, workspace and model in one that has no CUDA context (make one if you need it; the
 * device is the first that is visible), all of it in the one that measures, where the device's primary
 * context is current, which the CUDA runtime uses too. Functions are called from one thread at a time.
 *
 * Functions that return int return 0 for success. Otherwise they may have written why into `message`, one
 * sentence of at most ATTNPROF_MESSAGE_SIZE bytes with its final 0; it becomes the row's reason.
 */
#ifndef ATTNPROF_PLUGIN_H
#define ATTNPROF_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header: raised when it changes. A library built for another version is refused. */
#define ATTNPROF_PLUGIN_ABI 1u
#define ATTNPROF_MESSAGE_SIZE 512

enum { ATTNPROF_FP32 = 0, ATTNPROF_FP16 = 1, ATTNPROF_BF16 = 2, ATTNPROF_FP8 = 3 };
enum { ATTNPROF_FULL = 0, ATTNPROF_CAUSAL = 1 };

/* O = softmax(Q K^T / sqrt(head_dim) + mask) V. Query head h reads kv head h / (heads / kv_heads). Causal is
 * aligned to the bottom right: query i sees key j when j <= i + kv_len - q_len; a row without a key is 0.
 * ATTNPROF_FP8: Q, K and V are e4m3 with one fp32 scale a head (value = element * scale), O is bf16. */
typedef struct attnprof_problem {
  int32_t dtype; /* of Q, K, V and O: ATTNPROF_FP32, ... */
  int32_t mask;  /* ATTNPROF_FULL, ATTNPROF_CAUSAL */
  int64_t batch;
  int64_t heads;
  int64_t kv_heads;
  int64_t q_len;
  int64_t kv_len;
  int64_t head_dim;
} attnprof_problem;

typedef struct attnprof_device {
  const char* name; /* as the driver says, or a simulated target */
  const char* arch; /* "sm_90a" */
  int32_t sms;
  int64_t smem_per_block_bytes; /* opt-in maximum */
  int64_t memory_bytes;
} attnprof_device;

/* Element strides of a [batch, heads, rows, head_dim] tensor whose last dimension is dense. */
typedef struct attnprof_strides {
  int64_t batch;
  int64_t head;
  int64_t row;
} attnprof_strides;

/* All pointers are to device memory. */
typedef struct attnprof_params {
  const attnprof_problem* problem;
  const void* q; /* [batch, heads, q_len, head_dim] */
  const void* k; /* [batch, kv_heads, kv_len, head_dim] */
  const void* v; /* [batch, kv_heads, kv_len, head_dim] */
  void* o;       /* [batch, heads, q_len, head_dim] */
  attnprof_strides q_strides;
  attnprof_strides k_strides;
  attnprof_strides v_strides;
  attnprof_strides o_strides;
  const float* q_scale; /* fp8 [batch, heads], else null */
  const float* k_scale; /* fp8 [batch, kv_heads], else null */
  const float* v_scale;
  void* workspace; /* null where none was asked for; aligned to 256 bytes */
  int64_t workspace_bytes;
  float scale; /* 1 / sqrt(head_dim) */
} attnprof_params;

/* Texts live as long as the library is loaded. */
typedef struct attnprof_description {
  const char* name;  /* of the variant: a small letter, then small letters, digits, _ and -, up to 40 */
  const char* idea;  /* one sentence */
  const char* takes; /* what it supports, for people: "fp16, bf16; head_dim up to 128" */
} attnprof_description;

/* What one operation moves and executes by its own reckoning; -1, as it is before the call: not known. */
typedef struct attnprof_model {
  int64_t sm_bytes;           /* that arrive at and leave the SMs */
  int64_t intermediate_bytes; /* the part of them that is S and P */
  int64_t hbm_bytes;
  int64_t tensor_flops;
} attnprof_model;

typedef struct attnprof_plugin_api {
  uint32_t abi; /* ATTNPROF_PLUGIN_ABI */
  int (*describe)(attnprof_description* description, char* message);
  /* 0: it takes the problem on this device; else the case is skipped with the message. */
  int (*supports)(const attnprof_problem* problem, const attnprof_device* device, char* message);
  /* Device memory it needs beyond the tensors; 0 before the call. */
  int (*workspace)(const attnprof_problem* problem, int64_t* bytes, char* message);
  /* Everything that need not happen in each launch: modules, plans, handles. What it puts into *state is
   * handed to launch and release. */
  int (*prepare)(const attnprof_problem* problem, const attnprof_device* device, void** state, char* message);
  /* Enqueues the whole operation on `stream` (a CUstream, which is a cudaStream_t) and returns; it must not
   * wait, allocate, or use another stream that is not joined to this. Called many times, with tensors at
   * other addresses and on other streams. */
  int (*launch)(void* state, const attnprof_params* params, void* stream, char* message);
  /* May be null. */
  int (*model)(const attnprof_problem* problem, const attnprof_device* device, attnprof_model* model,
               char* message);
  /* May be null. Called once for each prepare that returned 0. */
  void (*release)(void* state);
} attnprof_plugin_api;

#define ATTNPROF_PLUGIN_EXPORT __attribute__((visibility("default")))

/* The one symbol that a plug-in exports. */
ATTNPROF_PLUGIN_EXPORT const attnprof_plugin_api* attnprof_plugin(void);

#ifdef __cplusplus
}
#endif

#endif
