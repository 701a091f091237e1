// One exception type carries a sentence for the user and the exit code it ends in; main prints it once.
#pragma once

#include <stdexcept>
#include <string>

namespace attnprof {

enum class ExitCode : int {
  ok = 0,
  failed = 1,         // an incorrect or failed case (sweep), a regression (gate)
  usage = 2,          // bad arguments, unreadable or malformed input
  environment = 3,    // the environment lacks what was asked for; nothing measurable; not comparable
  interrupted = 130,  // SIGINT
};

class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const std::string& sentence) : std::runtime_error(sentence), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

struct UsageError : Error {
  explicit UsageError(const std::string& sentence) : Error(ExitCode::usage, sentence) {}
};
struct EnvironmentError : Error {
  explicit EnvironmentError(const std::string& sentence) : Error(ExitCode::environment, sentence) {}
};

// Thrown by a backend for one case; the pipeline turns it into that row's disposition and goes on.
struct CaseSkipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct CaseFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace attnprof
