// A target file's text, and the names that it may not take.
#pragma once

#include <string>
#include <string_view>

#include "device/device_profile.hpp"

namespace attnprof {

// As load_profile (device_profiles.hpp) has it.
DeviceProfile parse_profile(const std::string& file, const std::string& text);

// Whether a built-in profile, or a driver of a GPU that has one, is called so: rows name their device by
// nothing else.
bool is_built_in(std::string_view name);

}  // namespace attnprof
