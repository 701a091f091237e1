// Runs a program without a shell.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/environment.hpp"
#include "base/unfinished.hpp"

namespace attnprof {

// Where a program runs and what becomes of it.
struct RunPlace {
  std::string folder = {};   // its current folder; empty: ours
  Variables variables = {};  // beside or instead of ours
  std::string errors = {};   // the file that its error stream goes to; empty: where its output goes
  Ending ending = Ending::at_once;
};

// Runs argv[0] (a path) with its output and error stream going to the file `output_path`, or where that is
// empty to our error stream, and waits. The program gets a process group of its own, so that Ctrl-C does not
// break a compilation the case in hand needs, and no open file of ours; its temporary files go beside its
// output where `place` does not name TMPDIR. Returns its exit code, 128 + the signal that ended it, or 127
// when it cannot be started (then the output file says why). `cancel`, when set to true, ends it. A relative
// argv[0] is one of the folder that it runs in.
int run_program(const std::vector<std::string>& argv, const std::string& output_path,
                const std::atomic<bool>* cancel = nullptr, const RunPlace& place = {});

// A file's whole content; empty when it cannot be read.
std::string read_file(const std::string& path);

}  // namespace attnprof
