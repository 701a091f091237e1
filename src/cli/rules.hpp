// The numbers that every case is verified and timed by.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// Lines of rule, value and meaning, under a header: what `attnprof list --rules` prints.
std::vector<std::vector<std::string>> rule_lines();

}  // namespace attnprof
