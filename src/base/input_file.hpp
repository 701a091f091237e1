// Files that are read to their end: whether they have one.
#pragma once

#include <string>

namespace attnprof {

// Throws UsageError for a folder, for what cannot be opened, and for a device that is neither a terminal nor
// /dev/null: /dev/zero has no end.
void check_input(const std::string& path);

}  // namespace attnprof
