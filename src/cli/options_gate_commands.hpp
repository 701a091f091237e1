// Parsers of `attnprof gate` and `attnprof baseline update`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class GateParser {
 public:
  explicit GateParser(CLI::App& root);
  CLI::App& app() { return app_; }
  GateCommand command();

 private:
  GateCommand command_;
  CLI::App& app_;
  GateFlags flags_;
  std::string run_ = "last";
  std::vector<std::string> key_, metrics_;
};

class BaselineParser {
 public:
  explicit BaselineParser(CLI::App& root);
  CLI::App& app() { return baseline_; }
  BaselineCommand command();

 private:
  BaselineCommand command_;
  CLI::App& baseline_;
  CLI::App& app_;
  GateFlags flags_;
  std::string run_ = "last";
};

}  // namespace attnprof
