#include "plugin/own_variants.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "plugin/plugin_host.hpp"
#include "plugin/plugin_library.hpp"
#include "plugin/variant_description.hpp"
#include "plugin/variant_file.hpp"
#include "variants/registry.hpp"

namespace attnprof {
namespace {

using nlohmann::json;

struct Loaded {
  OwnVariants own;  // by absolute paths
  std::vector<std::string> fingerprints;
  std::vector<std::shared_ptr<PluginHost>> hosts;
};

Loaded& loaded() {
  static Loaded the_last;
  return the_last;
}

}  // namespace

std::vector<std::string> load_own_variants(const OwnVariants& own, PluginCode code) {
  std::vector<Variant> variants;
  Loaded next;
  for (const std::string& file : own.files) {
    variants.push_back(load_variant_file(file));
    next.own.files.emplace_back(variants.back().origin);
  }
  for (const std::string& given : own.plugins) {
    const std::string path = plugin_path(given);
    std::shared_ptr<Plugin> plugin;
    if (code == PluginCode::here)
      plugin = std::make_shared<PluginLibrary>(path);
    else
      plugin = next.hosts.emplace_back(std::make_shared<PluginHost>(path));
    variants.push_back(plugin_variant(path, std::move(plugin)));
    next.own.plugins.push_back(path);
  }
  std::vector<std::string> names;
  for (const Variant& variant : variants) {
    names.emplace_back(variant.name);
    next.fingerprints.emplace_back(variant.fingerprint);
  }
  set_loaded_variants(std::move(variants));
  loaded() = std::move(next);
  return names;
}

std::vector<std::string> own_variant_files() {
  std::vector<std::string> files = loaded().own.plugins;
  for (const std::string& file : loaded().own.files) {
    files.push_back(file);
    const auto variant = read_variant_description(file);
    for (const StepDescription& step : variant->steps) files.push_back(step.file);
  }
  return files;
}

json own_variants_message() {
  const Loaded& last = loaded();
  return {{"files", last.own.files}, {"plugins", last.own.plugins}, {"fingerprints", last.fingerprints}};
}

void load_same_variants(const json& message) {
  OwnVariants own;
  message.at("files").get_to(own.files);
  message.at("plugins").get_to(own.plugins);
  load_own_variants(own, PluginCode::here);
  std::vector<std::string> all = own.files;
  all.insert(all.end(), own.plugins.begin(), own.plugins.end());
  for (size_t i = 0; i < all.size(); ++i)
    if (loaded().fingerprints[i] != message.at("fingerprints").at(i).get<std::string>())
      throw UsageError(fmt::format("{} has changed since the run began; start the run again", all[i]));
}

void rest_plugin_hosts() {
  for (const auto& host : loaded().hosts) host->rest();
}

}  // namespace attnprof
