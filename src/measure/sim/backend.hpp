// The simulator: no GPU, the variant's schedule on a device profile.
#pragma once

#include <memory>

#include "measure/backend.hpp"

namespace attnprof {

std::unique_ptr<Backend> make_sim_backend(const DeviceProfile& device, const MeasureOptions& options);

}  // namespace attnprof
