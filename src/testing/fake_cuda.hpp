// What the fake driver and the fake CUPTI have in common: one library is both.
#pragma once

#include <cupti_callbacks.h>

#include <string>
#include <vector>

namespace attnprof::fake {

// The last launch, and how many there were since a range was pushed.
struct Work {
  std::string kernel;
  double blocks = 0;
  int launches_in_range = 0;
};
Work& work();

// A driver call as CUPTI's subscriber sees it: `body` between its two callbacks.
struct Call {
  CUpti_CallbackId id;
  const void* arguments;
  const char* symbol = nullptr;
};
void call_back(const Call& call, CUpti_ApiCallbackSite site, CUresult* result);

template <class Body>
CUresult called(const Call& call, Body body) {
  CUresult result = CUDA_SUCCESS;
  call_back(call, CUPTI_API_ENTER, &result);
  result = body();
  call_back(call, CUPTI_API_EXIT, &result);
  return result;
}

// The context that is current on this thread, and how often one at its address was destroyed.
CUcontext current_context();
int times_destroyed(CUcontext context);
// CUPTI's callback of a context that is about to be destroyed.
void call_back_destroy(CUcontext context);

// The number in an environment variable, 0 without it.
int number(const char* variable);

}  // namespace attnprof::fake
