// The roofline columns of a row: where a measured case sits under the roofs.
#pragma once

#include <span>

#include "device/ceilings.hpp"
#include "device/device_profile.hpp"
#include "roofline/levels.hpp"
#include "row/row.hpp"

namespace attnprof {

// What the unit that does the row's products (uses_tensor_cores) does at most, TFLOP/s; 0 where the device's
// rate is not known.
double peak_tflops(const Row& row, const DeviceProfile& device);

// The roof at `intensity` FLOP a byte under a peak and a bandwidth; nothing where one of them is not known.
Real roof_tflops(const Real& intensity, double peak_tflops, double gbps);

// Intensities, achieved rate, roof and bound from the row's latency, counters and model; flags
// `above_ceiling`. Roof, bound and flag are by the device's ceilings, by nominal rates where none was
// measured; mfu_pct is always of the nominal peak. Columns whose inputs are absent stay empty.
void fill_roofline(Row& row, const DeviceProfile& device, const Ceilings& ceilings = {},
                   std::span<const Level> levels = memory_levels());

}  // namespace attnprof
