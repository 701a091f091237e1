// Why a case cannot run, from its shapes and the device alone; asked before anything is compiled or
// allocated.
#pragma once

#include <optional>
#include <string>

#include "schedule/case.hpp"

namespace attnprof {

// Each a sentence with the numbers, or nothing. The case's tile is already resolved; `free_bytes`: device
// memory it may use.

// Why the variant does not take the case; asked before its steps are built.
std::optional<std::string> unsupported_reason(const Case& c, const DeviceProfile& device);
// Why its launches or its memory are more than there is, of a case that is built.
std::optional<std::string> too_much_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes);
// Both, of a case that is built where its variant supports it.
std::optional<std::string> skip_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes);

}  // namespace attnprof
