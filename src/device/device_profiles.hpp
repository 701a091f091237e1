// The devices attnprof knows: what the simulator can target, and calibrations for real GPUs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/device_profile.hpp"

namespace attnprof {

// Every built-in profile, in the order `attnprof list` shows them.
std::span<const DeviceProfile> all_profiles();

// By profile name ("h200"); null if there is none.
const DeviceProfile* find_profile(std::string_view name);

// By the name a driver reports ("NVIDIA H200"): nominal peaks and, where there is one, the L2 calibration.
// The result carries the driver's name. Nothing for a GPU without a profile.
std::optional<DeviceProfile> find_profile_for_gpu(std::string_view driver_name);

// Written data that an L2 is taken to keep where nothing was measured.
int64_t assumed_dirty_bytes(int64_t l2_bytes);

// Reads a profile of one's own: a JSON object whose keys are DeviceProfile's members. `l2_curve` (pairs of
// [MiB, miss share]), `l2_dirty_bytes` and `l2_shared_room` may be left out: the device is then not
// calibrated; so may `tensor_fp8_tflops` and `tensor_clock_mhz`. Throws UsageError with file and key for what
// is unreadable, malformed, unknown, missing or absurd.
DeviceProfile load_profile(const std::string& file);

}  // namespace attnprof
