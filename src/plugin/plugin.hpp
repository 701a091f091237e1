// A plug-in as a variant sees it, whether its code runs in this process (PluginLibrary) or in another
// (PluginHost).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "variants/variant.hpp"

namespace attnprof {

struct PluginDescription {
  std::string name, idea, takes;
};

// What a plug-in says of one problem.
struct PluginAnswer {
  std::string unsupported;  // why it cannot run, as a sentence; empty: it can
  int64_t workspace_bytes = 0;
  StatedModel model;
};

class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual PluginDescription describe() = 0;
  // Never throws for what the plug-in does wrong: that is why it is unsupported.
  virtual PluginAnswer ask(const Problem& problem, const DeviceProfile& device) = 0;
  // The answer's. Throws CaseFailed where the plug-in cannot say.
  virtual int64_t workspace_bytes(const Problem& problem) = 0;
  virtual const PluginLibrary* library() const { return nullptr; }
};

// The variant of the plug-in at `path`, with the plug-in's file for fingerprint. Throws UsageError for a
// description that is none.
Variant plugin_variant(const std::string& path, std::shared_ptr<Plugin> plugin);

// Absolute path of the library; `given`: a path, which has a slash, or the name of one that comes with
// attnprof. Throws UsageError where it cannot be read.
std::string plugin_path(const std::string& given);

}  // namespace attnprof
