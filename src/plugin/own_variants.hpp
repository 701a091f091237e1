// Variants of a user's own, from --variant-file and --plugin, into the registry.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attnprof {

struct OwnVariants {
  std::vector<std::string> files;    // JSON (plugin/variant_file.hpp)
  std::vector<std::string> plugins;  // shared libraries (plugin/attnprof_plugin.h)
};

enum class PluginCode {
  elsewhere,  // asked in a process of its own
  here,       // loaded into this one, which measures
};

// Takes the place of what was loaded before; none is right too. Returns the variants' names. Throws
// UsageError with a sentence naming the file.
std::vector<std::string> load_own_variants(const OwnVariants& own, PluginCode code);

// The files that the last were loaded from, with their kernel sources.
std::vector<std::string> own_variant_files();

// What was loaded last, for a worker, which loads the same. Throws UsageError when a file is another by then.
nlohmann::json own_variants_message();
void load_same_variants(const nlohmann::json& message);

// Ends the processes that plug-ins were asked in: they may hold the GPU. Later questions start others.
void rest_plugin_hosts();

}  // namespace attnprof
