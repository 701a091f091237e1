// What of a step nvcc compiles.
#pragma once

#include "schedule/step.hpp"

namespace attnprof {

const KernelLaunch* compiled_part(const Step& step);  // null where that is nothing

}  // namespace attnprof
