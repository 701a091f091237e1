// The memory levels, for scripts that draw them.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// A line a level, under a header: what `attnprof list --levels` prints.
std::vector<std::vector<std::string>> level_lines();

}  // namespace attnprof
