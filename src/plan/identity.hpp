// The row columns that come from the case itself.
#pragma once

#include "plan/case.hpp"
#include "roofline/row.hpp"

namespace attnprof {

Identity identity_of(const Case& c);
Resolved resolved_of(const Case& c);
std::string wrong_output_reason(const Verification& verification, const Problem& problem);

}  // namespace attnprof
