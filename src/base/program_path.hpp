// Programs that are started by name.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// Where `name` may lie: in every absolute folder of PATH, in its order; never in the current folder.
std::vector<std::string> in_path(const std::string& name);

bool is_program(const std::string& path);  // a file that we may execute

// The running program's own file, by a path that means the same in whatever process starts it.
std::string own_program();

}  // namespace attnprof
