// SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1 end the program with a sentence, exit code 128 + their number,
// and nothing left behind: what it has started is ended, its scratch folders are removed.
#pragma once

#include <string>

namespace attnprof {

// From now on, for those that were not ignored (as SIGHUP is under nohup). A file that reaches the limit of
// sizes (SIGXFSZ) is a failed write, with a sentence of its own. Called once, by main.
void end_well_on_signals();
// From now on without the sentence: of a process that a person did not start.
void end_silently();

// The program ends as if the signal had come now. From a signal handler; where end_well_on_signals was not
// called, by the signal's default.
void end_by_signal(int number);

// What the sentence says beside the signal while it lives, such as where finished rows are; one at a time.
class EndNote {
 public:
  explicit EndNote(const std::string& note);
  ~EndNote();
  EndNote(const EndNote&) = delete;
  EndNote& operator=(const EndNote&) = delete;
};

}  // namespace attnprof
