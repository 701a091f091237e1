// Reads hardware counters around an operation: CUPTI's range profiler, user ranges, user replay.
#pragma once

#include <cuda.h>

#include <functional>
#include <memory>

#include "problem/problem.hpp"
#include "row/row.hpp"

namespace attnprof {

// What to count, as functions that only enqueue work; the session synchronises.
struct CountedWork {
  std::function<void()> condition;  // brings L2 and operands into the case's cache state, before every pass
  std::function<void()> run;        // the operation: has run before, so that nothing is loaded inside a range
  std::function<void()> evict;      // reads a clean buffer of at least 4 x L2
  bool dirty_before = false;        // `condition` is the operation itself, and leaves dirty lines as it does
  // Moves the operands to another placement in memory, where the operation has run once; false where there is
  // but one. Given for cases of which one count says little: they are counted again (recount.hpp).
  std::function<bool()> relocate = {};
};

// One per process and context: CUPTI's objects, configurations and buffers are made once and used for every
// case.
class CounterSession {
 public:
  // `context` must be current. Throws EnvironmentError: why counters cannot be read and what to do.
  static std::unique_ptr<CounterSession> open(CUcontext context, int device);
  ~CounterSession();
  CounterSession(const CounterSession&) = delete;
  CounterSession& operator=(const CounterSession&) = delete;

  // The measured group of a row, `bytes_source` included. About 0.12 s on an H200 plus a run of the operation
  // a pass, and where work.relocate is given 0.3 to 0.5 s more, for the medians and the spread of up to 8
  // counts. `dtype` chooses the tensor counter; the first case of another dtype than the last takes 0.1 s
  // more. Flags noisy_bytes in `status` when counts disagree. Throws CaseFailed when something was not
  // collected, CudaError when a launch failed.
  Counters measure(const CountedWork& work, Dtype dtype, Status& status);

  const std::string& chip() const;     // GH100
  const std::string& library() const;  // path of libcupti
  uint32_t version() const;            // 130000

 private:
  struct State;
  explicit CounterSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace attnprof
