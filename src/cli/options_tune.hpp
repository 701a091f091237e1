// Parser of `attnprof tune`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class TuneParser {
 public:
  explicit TuneParser(CLI::App& root);
  CLI::App& app() { return app_; }
  TuneCommand command(const std::vector<std::string>& args);

 private:
  TuneCommand command_;
  CLI::App& app_;
  AxisOptions axes_;
  MeasureFlags measure_;
  std::string format_ = "table";
  bool append_ = false, overwrite_ = false, no_compile_ = false;
};

}  // namespace attnprof
