// The order in which the accesses of a launch reach L2.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/deadline.hpp"
#include "model/counting_machine.hpp"
#include "schedule/tile_machine.hpp"

namespace attnprof {

// Who makes an access: the slot of a block on the device, numbered from 0, or several that repeat one
// another.
using SlotIndex = int32_t;
inline constexpr SlotIndex several_slots = -1;

// Runs a launch with `resident` blocks at a time: blocks start in launch order as earlier ones finish, each
// in the slot of one that has, and resident blocks make one access each in turn. Accesses of neighbouring
// blocks that continue or repeat one another within a turn reach `visit` as one. `machine` counts every
// access on its own. Throws OutOfTime.
void run_in_waves(const Schedule& schedule, int64_t resident, CountingMachine& machine,
                  const Deadline& deadline, const std::function<void(const Access&, SlotIndex)>& visit);

}  // namespace attnprof
