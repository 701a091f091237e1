// Runs a program without a shell.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/environment.hpp"

namespace attnprof {

// Where a program runs: its current folder (empty: ours), and variables beside or instead of ours.
struct RunPlace {
  std::string folder;
  Variables variables;
};

// Runs argv[0] (a path) with its output and error stream going to the file `output_path`, and waits. The
// program gets a process group of its own, so that Ctrl-C does not break a compilation the case in hand
// needs, and no open file of ours; its temporary files go beside its output where `place` does not name
// TMPDIR. Returns its exit code, 128 + the signal that ended it, or 127 when it cannot be started (then the
// output file says why). `cancel`, when set to true, ends it. A relative argv[0] is one of the folder that it
// runs in.
int run_program(const std::vector<std::string>& argv, const std::string& output_path,
                const std::atomic<bool>* cancel = nullptr, const RunPlace& place = {});

// A file's whole content; empty when it cannot be read.
std::string read_file(const std::string& path);

}  // namespace attnprof
