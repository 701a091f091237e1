// Whether a program, library or kernel source may be run, loaded or compiled from where it lies: not where
// another ordinary user could have put or changed it.
//
// The owner of the file, of every folder on the way to it and of every link must be root, the user, who
// called sudo, or named by ATTNPROF_TRUST; anybody may write to none of them. A folder that anybody may write
// to but not remove from (sticky, as /tmp) may lie on the way, but not be the file's own: who can put files
// beside it can have them loaded or included. ATTNPROF_TRUST lists user ids and absolute folders, `:`
// between; of what lies in such a folder nothing is asked.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace attnprof {

struct Trust {
  std::string refusal;  // why it is not used and what to do, as the end of a sentence; empty: it may be used
  std::string warning;  // a sentence, when others could write to it by way of a group; empty: none
};

// A path at which there is nothing may be used: it is for others to say so.
Trust examine_trust(const std::filesystem::path& path);

// Throws EnvironmentError "WHAT PATH is not used: ...". `what`: "the compiler".
void require_trusted(const std::filesystem::path& path, std::string_view what);

// From now on require_trusted prints warnings, each once, to stderr: in the process that a user has started,
// not in those that it starts itself or is loaded into.
void print_trust_warnings();

}  // namespace attnprof
