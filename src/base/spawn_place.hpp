// Where a started program runs and which open files it does not get. The C library has had calls for both
// since versions 2.29 and 2.34; a program that is built for older ones (a manylinux_2_28 wheel) does without.
#pragma once

#include <spawn.h>

#include <string>
#include <vector>

namespace attnprof {

// Has the program start in `folder`, by an action or by a changed command; `folder` may be empty: here.
void start_in(posix_spawn_file_actions_t& actions, std::vector<std::string>& command,
              const std::string& folder);

// Closes all files from descriptor `lowest` on.
void close_from(posix_spawn_file_actions_t& actions, int lowest);

}  // namespace attnprof
