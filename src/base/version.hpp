// Which attnprof this is.
#pragma once

#include <string_view>

namespace attnprof {

std::string_view tool_version();  // "0.1.0"
std::string_view tool_commit();   // short hash of the source's commit, or "unknown" outside a repository

}  // namespace attnprof
