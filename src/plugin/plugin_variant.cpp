#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "base/installation.hpp"
#include "base/trusted_path.hpp"
#include "plugin/plugin.hpp"
#include "plugin/variant_file.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

// What a loaded plug-in's variant refers to.
struct LoadedPlugin {
  std::string path, fingerprint;
  PluginDescription description;
  std::shared_ptr<Plugin> plugin;
};

std::string file_hash(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return content_hash(std::string(std::istreambuf_iterator<char>(in), {}));
}

// Of a plug-in that comes with attnprof, by its name: beside the program, as built or as installed.
std::string shipped(const std::string& name) {
  const fs::path program = program_folder();
  std::error_code error;
  for (const fs::path& folder : {program / "plugins", program.parent_path() / "lib/attnprof/plugins"})
    if (const fs::path file = folder / (name + ".so"); fs::exists(file, error)) return file.string();
  throw UsageError(
      fmt::format("--plugin {}: no plug-in of that name came with this attnprof; give the path of a shared "
                  "library with a "
                  "slash in it (./{}), or build attnprof where the library's headers are",
                  name, name));
}

std::optional<std::string> why_unsupported(const LoadedPlugin& loaded, const Problem& p, const Tile& tile,
                                           const DeviceProfile& device) {
  if (tile != Tile{})
    return fmt::format("{} takes no tile: a plug-in chooses its own", loaded.description.name);
  const PluginAnswer answer = loaded.plugin->ask(p, device);
  return answer.unsupported.empty() ? std::nullopt : std::optional(answer.unsupported);
}

// Bytes, one row of them.
std::vector<Operand> workspace_of(int64_t bytes) {
  if (bytes == 0) return {};
  return {{.name = "workspace",
           .role = Role::workspace,
           .init = Init::poison,
           .dtype = ElementType::e4m3,
           .batch = 1,
           .heads = 1,
           .rows = 1,
           .cols = bytes,
           .row_pitch = bytes}};
}

}  // namespace

std::string plugin_path(const std::string& given) {
  std::error_code error;
  // Never a file of the current folder by its bare name: that may be anybody's.
  const std::string path = given.find('/') == std::string::npos ? shipped(given) : given;
  if (!fs::is_regular_file(path, error) || !std::ifstream(path))
    throw UsageError(fmt::format("--plugin {}: cannot be read; give a shared library", given));
  require_trusted(path, "the plug-in");
  return fs::absolute(path).lexically_normal().string();
}

Variant plugin_variant(const std::string& path, std::shared_ptr<Plugin> plugin) {
  const PluginDescription description = plugin->describe();
  if (!is_variant_name(description.name))
    throw UsageError(
        fmt::format("plug-in {} calls itself '{}', which is no name of a variant; describe must give a "
                    "small letter, then small letters, digits, '_' and '-'",
                    path, description.name));
  const auto loaded = std::make_shared<const LoadedPlugin>(
      LoadedPlugin{path, file_hash(path), description, std::move(plugin)});
  Variant variant;
  variant.name = loaded->description.name;
  variant.idea = loaded->description.idea;
  variant.needs = loaded->description.takes;
  variant.origin = loaded->path, variant.fingerprint = loaded->fingerprint;
  variant.unsupported = [loaded](const Problem& p, const Tile& tile, const DeviceProfile& device) {
    return why_unsupported(*loaded, p, tile, device);
  };
  variant.default_tile = [](const Problem&, const DeviceProfile&) {
    return TileChoice{{}, "a plug-in chooses its own tiles"};
  };
  variant.workspace = [loaded](const Problem& p, const Tile&) {
    return workspace_of(loaded->plugin->workspace_bytes(p));
  };
  variant.steps = [loaded](const Problem&, const Tile&, const DeviceProfile&) {
    return std::vector<Step>{{"plug-in", PluginLaunch{loaded->plugin->library()}, Schedule{}, true}};
  };
  variant.stated_model = [loaded](const Problem& p, const DeviceProfile& device) {
    return loaded->plugin->ask(p, device).model;
  };
  return variant;
}

}  // namespace attnprof
