// The options of a gate: of `attnprof gate` and `baseline update`, and of sweep --gate.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "gate/gate.hpp"
#include "gate/gate_output.hpp"

namespace attnprof {

// Thresholds and permissions, in a group of the help.
class GateFlags {
 public:
  GateFlags(CLI::App& app, const std::string& group);
  // The two files that are compared, which run of the second, and what of another tool's.
  void add_compared_files(std::string& baseline, std::string& current);
  void add_outputs();
  void add_against();           // where only the user knows what the first file is
  GateOptions options() const;  // throws UsageError
  GateOutputs outputs() const;

 private:
  void add_permissions();
  void set_thresholds(GateOptions& options) const;
  void set_permissions(GateOptions& options) const;
  void set_other_table(GateOptions& options) const;
  std::vector<std::string> given() const;
  CLI::Option* add(const std::string& name, std::string& text, const std::string& help, const char* preset);
  CLI::Option* add_list(const std::string& name, std::vector<std::string>& texts, const std::string& help,
                        const char* preset);

  CLI::App& app_;
  std::string group_;
  std::string latency_, hbm_, sm_, flops_, registers_, spills_, smem_, latency_floor_, hbm_floor_;
  bool allow_missing_ = false;
  std::vector<std::string> allow_different_, fail_on_, key_, metrics_;
  std::string run_ = "last", against_ = "baseline";
  std::vector<const CLI::Option*> repeatable_;  // that a further command takes too
  GateOutputs outputs_;
};

}  // namespace attnprof
