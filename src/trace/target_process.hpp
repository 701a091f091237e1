// The traced program: started with our own streams, waited for, and sent the signals that we are sent.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace attnprof {

// Runs `command` (looked up in PATH) with these variables besides our own environment, and waits. SIGINT,
// SIGTERM and SIGHUP that another process sends us are sent on; those of a terminal reach it by themselves.
// Returns its exit code, of one that a signal ended 128 + its number. Throws UsageError when it cannot be
// started.
int run_target(const std::vector<std::string>& command,
               const std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace attnprof
