// A plug-in's library, loaded into this process: its code runs here.
#pragma once

#include <span>

#include "plugin/attnprof_plugin.h"
#include "plugin/plugin.hpp"

namespace attnprof {

// A problem the plug-in has prepared; released in the destructor.
class PluginOperation {
 public:
  PluginOperation(const std::string& path, const attnprof_plugin_api& api, const Problem& problem,
                  const DeviceProfile& device);
  ~PluginOperation();
  PluginOperation(const PluginOperation&) = delete;
  PluginOperation& operator=(const PluginOperation&) = delete;

  // Enqueues the operation; `addresses`: of the operands, in their order. Throws CaseFailed.
  void launch(const OperandList& operands, std::span<void* const> addresses, void* stream) const;

 private:
  const std::string path_;
  const attnprof_plugin_api& api_;
  const attnprof_problem problem_;
  void* state_ = nullptr;
};

class PluginLibrary : public Plugin {
 public:
  // Loads it and keeps it loaded until the process ends. Throws UsageError naming the library: no library, no
  // attnprof_plugin() in it, another version of the header, a function missing.
  explicit PluginLibrary(const std::string& path);

  PluginDescription describe() override;  // throws UsageError
  PluginAnswer ask(const Problem& problem, const DeviceProfile& device) override;
  int64_t workspace_bytes(const Problem& problem) override;
  const PluginLibrary* library() const override { return this; }

  // Throws CaseFailed with what the plug-in says.
  std::unique_ptr<PluginOperation> prepare(const Problem& problem, const DeviceProfile& device) const;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  const attnprof_plugin_api* api_ = nullptr;
};

}  // namespace attnprof
