// The row columns that come from the case itself.
#pragma once

#include "row/row.hpp"
#include "schedule/case.hpp"

namespace attnprof {

Identity identity_of(const Case& c);
Resolved resolved_of(const Case& c);

}  // namespace attnprof
