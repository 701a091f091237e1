// How and on what cases are measured, as options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "run/open_backend.hpp"

namespace attnprof {

class MeasureFlags {
 public:
  explicit MeasureFlags(CLI::App& app);
  MeasureOptions measure() const;  // these throw UsageError
  DeviceChoice device() const;

 private:
  MeasureOptions measure_;  // folders
  DeviceChoice choice_;     // targets
  std::string backend_ = "auto", device_ = "0", counters_ = "auto", ceilings_ = "auto", verify_ = "sampled",
              precision_ = "0.5%", max_time_ = "0.5s", case_timeout_ = "30s", seed_ = "1", input_ = "normal";
};

void add_target(CLI::App& app, DeviceChoice& device);  // --target and --target-file
void refuse_two_targets(const DeviceChoice& device);
void add_compiler(CLI::App& app, MeasureOptions& measure);  // --kernels and --cache-dir

}  // namespace attnprof
