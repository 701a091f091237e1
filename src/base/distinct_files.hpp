// Nothing that a command reads is written over, and nothing is written twice.
#pragma once

#include <string>
#include <vector>

namespace attnprof {

// Throws UsageError when an output is one of the inputs or another output, by whatever name: links, hard
// links, /dev/fd/N. Standard output and error count as outputs where they are files. Empty names are passed
// over, as is what cannot be looked at: opening it says why.
void check_distinct(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

}  // namespace attnprof
