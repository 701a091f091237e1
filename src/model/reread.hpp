// What a case reads again after other data has passed.
#pragma once

#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

// Bytes of it: S or P of unfused variants; in flash1, whose outer loop reads K and V once, Q and fp32 O, l
// and m; in the other flash variants K and V. Well under L2's size they stay there, well over it they come
// from HBM each time; near it, HBM bytes hang on when each block happens to run. Nothing for a variant that
// is not ours.
Count reread_bytes(const Case& c);

}  // namespace attnprof
