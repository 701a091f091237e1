// What a CUPTI error means to the person who sees it, and what to do about it.
#pragma once

#include <cupti_result.h>

#include <optional>
#include <string>
#include <string_view>

namespace attnprof {

// One sentence: cause and remedy, the call and the error's number and name. Never calls into CUPTI's device
// side.
std::string explain_counter_error(CUptiResult result, std::string_view call);

// RmProfilingAdminOnly of the driver's parameter file: true when counters are for administrators only.
// Nothing if the file cannot be read or has no such line.
std::optional<bool> counters_are_restricted(const std::string& params = "/proc/driver/nvidia/params");

// The remedies for missing permission, in one sentence without a full stop.
std::string counter_permission_remedies();

}  // namespace attnprof
