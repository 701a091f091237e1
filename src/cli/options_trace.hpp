// Parser of `attnprof trace`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class TraceParser {
 public:
  explicit TraceParser(CLI::App& root);
  CLI::App& app() { return app_; }
  // `args`: the whole command line; what stands after its -- is the program to trace.
  TraceCommand command(const std::vector<std::string>& args);

 private:
  TraceCommand command_;
  CLI::App& app_;
  std::string limit_ = "20";
  bool per_kernel_ = false, append_ = false, overwrite_ = false;
};

// Of `attnprof trace ... -- PROGRAM ARGUMENTS` what is attnprof's own; of other commands everything.
std::vector<std::string> before_traced_program(const std::vector<std::string>& args);

}  // namespace attnprof
