// Parsers of the commands that explain rows: `attnprof roofline` and `attnprof published`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class RooflineParser {
 public:
  explicit RooflineParser(CLI::App& root);
  CLI::App& app() { return app_; }
  RooflineCommand command();

 private:
  RooflineCommand command_;
  CLI::App& app_;
  CLI::Option* format_option_;
  std::string format_ = "csv";
};

class PublishedParser {
 public:
  explicit PublishedParser(CLI::App& root);
  CLI::App& app() { return app_; }
  PublishedCommand command();

 private:
  PublishedCommand command_;
  CLI::App& app_;
  std::string format_ = "table";
};

}  // namespace attnprof
