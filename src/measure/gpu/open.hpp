// The GPU backend as the rest of the program sees it: in a worker process.
#pragma once

#include <memory>

#include "measure/backend.hpp"

namespace attnprof {

// A backend whose cases run in `attnprof worker`, a child that is this program. Throws EnvironmentError: why
// no GPU can be used.
std::unique_ptr<Backend> open_gpu_backend(const MeasureOptions& options);

// What the hidden subcommand `attnprof worker` runs; its exit code.
int serve_gpu_worker();

}  // namespace attnprof
