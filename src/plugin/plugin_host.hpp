// Asks a plug-in in a process of its own (`attnprof plugin-host`), so that one that crashes or hangs takes
// nothing with it.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>

#include "base/child_process.hpp"
#include "plugin/plugin.hpp"

namespace attnprof {

// What is started, and how long it may take over one answer. Tests change it.
struct PluginHostSettings {
  std::vector<std::string> command = {"/proc/self/exe", "plugin-host"};
  double limit_s = 30;
};
PluginHostSettings& plugin_host_settings();

class PluginHost : public Plugin {
 public:
  explicit PluginHost(const std::string& path) : path_(path) {}

  // Throws UsageError: what PluginLibrary throws, or that the plug-in crashed or hung.
  PluginDescription describe() override;
  // Asked once for each problem and device.
  PluginAnswer ask(const Problem& problem, const DeviceProfile& device) override;

  // Of an answer given before; 0 where there is none.
  int64_t workspace_bytes(const Problem& problem) override;

  // Ends the process; a later question starts another. A plug-in may hold the GPU, which would disturb
  // measurements.
  void rest() { child_.reset(); }

 private:
  nlohmann::json call(const nlohmann::json& request, const char* activity);

  std::string path_;
  std::unique_ptr<ChildProcess> child_;
  std::string hung_;  // what there is to say since it did not answer: it is not waited for again
  std::map<std::string, PluginAnswer> known_;  // by request
  std::map<std::string, int64_t> workspaces_;  // by problem
};

// The other side; its exit code. Throws UsageError when it was not started by a PluginHost.
int serve_plugin_host();

}  // namespace attnprof
