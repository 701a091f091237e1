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
  void add_outputs();
  GateOptions options() const;  // throws UsageError
  const GateOutputs& outputs() const { return outputs_; }

 private:
  CLI::Option* add(const std::string& name, std::string& text, const std::string& help, const char* preset);
  void add_list(const std::string& name, std::vector<std::string>& texts, const std::string& help,
                const char* preset);

  CLI::App& app_;
  std::string group_;
  std::string latency_, hbm_, sm_, flops_, registers_, spills_, smem_, latency_floor_, hbm_floor_;
  bool allow_missing_ = false;
  std::vector<std::string> allow_different_, fail_on_;
  GateOutputs outputs_;
};

// The two files that are compared, and which run of the second.
void add_compared_files(CLI::App& app, std::string& baseline, std::string& current);
void add_run(CLI::App& app, std::string& run);

}  // namespace attnprof
