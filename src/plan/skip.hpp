// Why a case cannot run, from its shapes and the device alone; asked before anything is compiled or
// allocated.
#pragma once

#include <optional>
#include <string>

#include "schedule/case.hpp"

namespace attnprof {

// A sentence with the numbers, or nothing when the case can run. The case's tile is already resolved;
// `free_bytes`: device memory it may use.
std::optional<std::string> skip_reason(const Case& c, const DeviceProfile& device, int64_t free_bytes);

}  // namespace attnprof
