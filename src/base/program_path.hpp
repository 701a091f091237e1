// Programs that are started by name.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// Where `name` may lie: in every absolute folder of PATH, in its order; never in the current folder.
std::vector<std::string> in_path(const std::string& name);

bool is_program(const std::string& path);  // a file that we may execute

}  // namespace attnprof
