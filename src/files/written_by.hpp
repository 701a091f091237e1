// Which attnprof began the runs of a file: "attnprof 0.1.0 (commit 1a2b3c4d5e6f)".
#pragma once

#include <string>
#include <vector>

namespace attnprof {

std::string this_program();
// By the text of `file`, a .meta.json that has the run.
std::string program_of_run(const std::string& text, const std::string& run, const std::string& file);
// All of its runs' but this one, each once.
std::vector<std::string> other_programs(const std::string& text, const std::string& file);

}  // namespace attnprof
