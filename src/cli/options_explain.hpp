// Parser of `attnprof explain`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class ExplainParser {
 public:
  explicit ExplainParser(CLI::App& root);
  CLI::App& app() { return app_; }
  ExplainCommand command();

 private:
  ExplainCommand command_;
  CLI::App& app_;
  std::vector<std::string> tiles_;
  std::string format_ = "table";
};

}  // namespace attnprof
