// The real GPU as a backend, in this process.
#pragma once

#include <memory>

#include "base/error.hpp"
#include "measure/backend.hpp"

namespace attnprof {

// Thrown instead of CaseFailed when the error has made the context unusable (an illegal address, say): every
// later case of this process would fail too. Whoever hosts the backend goes on in a new process.
struct DeviceLost : CaseFailed {
  using CaseFailed::CaseFailed;
};

// Throws EnvironmentError with a sentence: no driver, the toolkit's stub in its place, no such device, no
// nvcc, or (with CounterMode::on) no counters. Use it from one thread.
std::unique_ptr<Backend> make_gpu_backend(const MeasureOptions& options);

}  // namespace attnprof
