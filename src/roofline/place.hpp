// Where a measured case sits under the roofline.
#pragma once

#include "model/device_profile.hpp"
#include "roofline/row.hpp"

namespace attnprof {

// Intensities, achieved rate, roof and bound from the row's latency, counters and model; flags
// `above_ceiling`. Columns whose inputs are absent stay empty.
void place_under_roofline(Row& row, const DeviceProfile& device);

}  // namespace attnprof
