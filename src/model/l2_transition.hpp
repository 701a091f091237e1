// Where bytes at HBM hang on how much L2 happens to keep.
#pragma once

#include "device/device_profile.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// Would 15 % more or less L2 change the modelled HBM bytes by more than 1 %? What a real L2 keeps of a
// working set varies from run to run of one program, so there one count says little. On an H200 these were
// all of the cases (and as many steady ones) whose counts differed by over 1 % and 512 KiB between two
// processes. False for a case that is not modelled. Takes two or three rough predictions.
bool l2_in_transition(const Case& c, const DeviceProfile& device);

}  // namespace attnprof
