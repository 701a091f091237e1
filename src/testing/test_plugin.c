/* A plug-in whose "device" is the host: fp32 attention in plain C. What else it does, BEHAVIOUR says; the
 * build makes one library of each. Also what shows that attnprof_plugin.h is C. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin/attnprof_plugin.h"

enum {
  RIGHT,
  CRASHES_IN_PREPARE,
  HANGS_IN_PREPARE,
  FAILS_IN_PREPARE,
  FAILS_IN_LAUNCH,
  WRITES_BEYOND_O,
  WRITES_BEFORE_WORKSPACE,
  CRASHES_IN_SUPPORTS,
  HANGS_IN_SUPPORTS,
  HANGS_IN_DESCRIBE,
  FAILS_IN_DESCRIBE,
  HAS_A_BAD_NAME,
  ANOTHER_ABI,
  LACKS_LAUNCH,
  RETURNS_NULL,
  LACKS_THE_SYMBOL
};

static void crash(void) {
  signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit code */
  raise(SIGSEGV);
}

static int describe(attnprof_description* description, char* message) {
  if (BEHAVIOUR == HANGS_IN_DESCRIBE) pause();
  if (BEHAVIOUR == FAILS_IN_DESCRIBE) {
    snprintf(message, ATTNPROF_MESSAGE_SIZE, "%s", "it is\nSunday");
    return 7;
  }
  description->name = BEHAVIOUR == HAS_A_BAD_NAME ? "Not a name" : "hosted";
  description->idea = "attention in plain C";
  description->takes = "fp32";
  return 0;
}

static int supports(const attnprof_problem* problem, const attnprof_device* device, char* message) {
  if (BEHAVIOUR == CRASHES_IN_SUPPORTS) crash();
  if (BEHAVIOUR == HANGS_IN_SUPPORTS)
    for (;;) pause();
  if (problem->dtype != ATTNPROF_FP32) {
    snprintf(message, ATTNPROF_MESSAGE_SIZE, "fp32 alone, on %s", device->arch);
    return 1;
  }
  return 0;
}

static int workspace(const attnprof_problem* problem, int64_t* bytes, char* message) {
  (void)message;
  *bytes = problem->kv_len * 4;
  return 0;
}

static int prepare(const attnprof_problem* problem, const attnprof_device* device, void** state,
                   char* message) {
  (void)device;
  if (BEHAVIOUR == CRASHES_IN_PREPARE) crash();
  if (BEHAVIOUR == HANGS_IN_PREPARE)
    for (;;) pause();
  if (BEHAVIOUR == FAILS_IN_PREPARE) {
    snprintf(message, ATTNPROF_MESSAGE_SIZE, "no plan for head_dim %d", (int)problem->head_dim);
    return 3;
  }
  *state = malloc(1);
  return 0;
}

static void attend(const attnprof_params* p, int64_t batch, int64_t head, int64_t row) {
  const attnprof_problem* const size = p->problem;
  const int64_t kv_head = head / (size->heads / size->kv_heads);
  const float* const q =
      (const float*)p->q + batch * p->q_strides.batch + head * p->q_strides.head + row * p->q_strides.row;
  const float* const k = (const float*)p->k + batch * p->k_strides.batch + kv_head * p->k_strides.head;
  const float* const v = (const float*)p->v + batch * p->v_strides.batch + kv_head * p->v_strides.head;
  float* const o =
      (float*)p->o + batch * p->o_strides.batch + head * p->o_strides.head + row * p->o_strides.row;
  float* const s = p->workspace;
  int64_t keys = size->kv_len;
  if (size->mask == ATTNPROF_CAUSAL && row + size->kv_len - size->q_len + 1 < keys)
    keys = row + size->kv_len - size->q_len + 1;
  float most = -INFINITY, sum = 0;
  for (int64_t j = 0; j < keys; ++j) {
    s[j] = 0;
    for (int64_t c = 0; c < size->head_dim; ++c) s[j] += q[c] * k[j * p->k_strides.row + c] * p->scale;
    if (s[j] > most) most = s[j];
  }
  for (int64_t j = 0; j < keys; ++j) sum += s[j] = expf(s[j] - most);
  for (int64_t c = 0; c < size->head_dim; ++c) {
    float total = 0;
    for (int64_t j = 0; j < keys; ++j) total += s[j] * v[j * p->v_strides.row + c];
    o[c] = keys > 0 ? total / sum : 0;
  }
}

static int launch(void* state, const attnprof_params* p, void* stream, char* message) {
  (void)stream;
  (void)message;
  if (!state || BEHAVIOUR == FAILS_IN_LAUNCH) return 4;
  for (int64_t batch = 0; batch < p->problem->batch; ++batch)
    for (int64_t head = 0; head < p->problem->heads; ++head)
      for (int64_t row = 0; row < p->problem->q_len; ++row) attend(p, batch, head, row);
  if (BEHAVIOUR == WRITES_BEYOND_O) {
    char* const end = (char*)p->o + p->problem->batch * p->o_strides.batch * 4;
    for (int i = 0; i < 24; ++i) end[i] = 1;
  }
  if (BEHAVIOUR == WRITES_BEFORE_WORKSPACE) ((char*)p->workspace)[-1] = 1;
  return 0;
}

static int model(const attnprof_problem* problem, const attnprof_device* device, attnprof_model* model,
                 char* message) {
  (void)device;
  (void)message;
  model->sm_bytes = problem->q_len * 1000;
  model->tensor_flops = 0;
  return 0;
}

static void release(void* state) { free(state); }

static const attnprof_plugin_api api = {
    BEHAVIOUR == ANOTHER_ABI ? 77 : ATTNPROF_PLUGIN_ABI,
    describe,
    supports,
    workspace,
    prepare,
    BEHAVIOUR == LACKS_LAUNCH ? 0 : launch,
    model,
    release,
};

#ifndef WITHOUT_SYMBOL
const attnprof_plugin_api* attnprof_plugin(void) { return BEHAVIOUR == RETURNS_NULL ? 0 : &api; }
#else
ATTNPROF_PLUGIN_EXPORT const attnprof_plugin_api* another_function(void);
const attnprof_plugin_api* another_function(void) { return &api; }
#endif
