// -o FILE.csv of a command that adds runs to it: --append, --resume, --overwrite.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "base/output_file.hpp"

namespace attnprof {

class RunFileFlags {
 public:
  // With the help of -o and of --append; `resume`: whether the command has --resume. Returns -o.
  CLI::Option* add(CLI::App& app, const std::string& output_help, const std::string& append_help,
                   bool resume);
  const std::string& output() const { return output_; }  // empty: nothing is written
  Existing existing() const;                             // throws UsageError

 private:
  std::string output_;
  bool append_ = false, resume_ = false, overwrite_ = false;
};

}  // namespace attnprof
