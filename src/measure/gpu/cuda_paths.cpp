#include "measure/gpu/cuda_paths.hpp"

#include <dlfcn.h>
#include <link.h>

#include <filesystem>

#include "base/installation.hpp"
#include "base/trusted_path.hpp"

namespace attnprof {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> candidates() {
  std::vector<fs::path> folders;
  for (const fs::path& root : toolkit_roots())
    for (const char* folder : {"lib64", "extras/CUPTI/lib64", "lib", "targets/x86_64-linux/lib"})
      folders.push_back(root / folder);
  return folders;
}

}  // namespace

std::string library_path(void* library, std::string_view otherwise) {
  link_map* map = nullptr;
  return dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map ? map->l_name : std::string(otherwise);
}

std::vector<std::string> cuda_library_folders() {
  std::vector<std::string> existing;
  std::error_code ignored;
  for (const fs::path& folder : candidates())
    if (fs::is_directory(folder, ignored)) existing.push_back(folder.string());
  return existing;
}

std::vector<std::string> cuda_library_paths(std::string_view file) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const std::string& folder : cuda_library_folders())
    if (const fs::path path = fs::path(folder) / file; fs::exists(path, ignored)) {
      require_trusted(path, "the library");
      paths.push_back(path.string());
    }
  paths.emplace_back(file);
  return paths;
}

}  // namespace attnprof
