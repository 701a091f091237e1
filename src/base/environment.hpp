// What a child process is given: the environment with some variables of one's own, and texts as exec takes
// them.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attnprof {

using Variables = std::vector<std::pair<std::string, std::string>>;  // names and values

// NAME=value of our environment and of `variables`, which come before ours of the same name.
std::vector<std::string> environment_with(const Variables& variables);

// Of `texts`, which must live as long, with a null at the end.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts);

}  // namespace attnprof
