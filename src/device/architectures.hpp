// GPU architectures by nvcc's names ("sm_86", "sm_90a"), and what an SM of each holds, where no device is
// named: kernels can be compiled and their blocks be counted for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/device_profile.hpp"

namespace attnprof {

// 86 of "sm_86", 90 of "sm_90a"; nothing where it is no such name.
std::optional<int> architecture_number(std::string_view arch);

// A device of the architecture: a built-in profile that has it, else one of the limits of its SMs alone,
// called as the architecture, with no SMs, memory or rates. Nothing where it is not known.
std::optional<DeviceProfile> profile_of_architecture(std::string_view arch);

// "sm_70", "sm_75", ... and those of the built-in profiles ("sm_90a"), each once, by their numbers.
std::vector<std::string> architecture_names();

// "sm_70, sm_75, ..., each also with a or f where nvcc has it": what profile_of_architecture knows.
std::string known_architectures();

}  // namespace attnprof
