#include "cli/flags/own_variants.hpp"

namespace attnprof {

OwnVariantFlags::OwnVariantFlags(CLI::App& app, const std::string& group) {
  const auto add = [&](const char* name, std::vector<std::string>& files, const char* help) {
    app.add_option(name, files, help)->allow_extra_args(false)->type_name("FILE")->group(group);
  };
  add("--variant-file", own_.files, "A kernel file's JSON, see attnprof new-variant; may be repeated");
  add("--plugin", own_.plugins,
      "Path of a shared library (./mine.so), see attnprof_plugin.h, or name of one that came with attnprof; may be repeated");
}

std::vector<std::string> OwnVariantFlags::load() const {
  return load_own_variants(own_, PluginCode::elsewhere);
}

}  // namespace attnprof
