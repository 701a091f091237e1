// Parsers of `attnprof list`, `compile`, `ceilings` and `doctor`.
#pragma once

#include "cli/options_detail.hpp"

namespace attnprof {

class ListParser {
 public:
  explicit ListParser(CLI::App& root);
  CLI::App& app() { return app_; }
  ListOptions options();

 private:
  ListOptions options_;
  CLI::App& app_;
  OwnVariantFlags own_;
  AxisTexts head_dims_, dtypes_;
  std::string format_ = "table";
};

class NewVariantParser {
 public:
  explicit NewVariantParser(CLI::App& root);
  CLI::App& app() { return app_; }
  NewVariantCommand command() const { return command_; }

 private:
  NewVariantCommand command_;
  CLI::App& app_;
};

class CompileParser {
 public:
  explicit CompileParser(CLI::App& root);
  CLI::App& app() { return app_; }
  CompileCommand options();

 private:
  CompileCommand options_;
  CLI::App& app_;
  AxisOptions axes_;
  std::vector<std::string> archs_;
  std::string jobs_ = "0", format_ = "table";
};

class CeilingsParser {
 public:
  explicit CeilingsParser(CLI::App& root);
  CLI::App& app() { return app_; }
  CeilingsCommand command();

 private:
  CeilingsCommand command_;
  CLI::App& app_;
  std::string format_ = "table", device_ = "0";
};

class DoctorParser {
 public:
  explicit DoctorParser(CLI::App& root);
  CLI::App& app() { return app_; }
  DoctorCommand options();

 private:
  DoctorCommand options_;
  CLI::App& app_;
  std::string format_ = "text", device_ = "0";
};

}  // namespace attnprof
