// Bytes by level and executed FLOPs of a case, from its schedule alone.
#pragma once

#include "model/device_profile.hpp"
#include "plan/case.hpp"
#include "roofline/row.hpp"

namespace attnprof {

// Runs every timed step's schedule on the counting machine, blocks in waves as on `device`, from the case's
// cache state.
Model predict(const Case& c, const DeviceProfile& device);

}  // namespace attnprof
