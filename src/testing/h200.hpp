// The device that most tests plan and predict for.
#pragma once

#include "device/device_profiles.hpp"

namespace attnprof {

inline const DeviceProfile& h200() { return *find_profile("h200"); }

}  // namespace attnprof
