// NVTX push/pop ranges of each thread of the traced program, by a tiny NVTX injection of our own: CUPTI's
// would call back for every NVTX function, and needs another variable. NVTX's headers are not needed: the
// interface that tools use is fixed, and is declared here as far as it is used.
#pragma once

#include <string>

namespace attnprof {

// Name of the innermost range that this thread is in, of any domain; empty outside of ranges.
const std::string& innermost_range();

}  // namespace attnprof
