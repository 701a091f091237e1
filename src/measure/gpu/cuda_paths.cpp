#include "measure/gpu/cuda_paths.hpp"

#include <cstdlib>
#include <filesystem>

namespace attnprof {
namespace {

namespace fs = std::filesystem;

void add_toolkit(std::vector<fs::path>& folders, const fs::path& root) {
  for (const char* folder : {"lib64", "extras/CUPTI/lib64", "lib", "targets/x86_64-linux/lib"})
    folders.push_back(root / folder);
}

// NVIDIA's wheels put libraries into site-packages/nvidia/cu13/lib (CUDA 13) or nvidia/NAME/lib (before).
void add_wheels(std::vector<fs::path>& folders, const fs::path& environment) {
  std::error_code ignored;
  for (const auto& python : fs::directory_iterator(environment / "lib", ignored)) {
    const fs::path nvidia = python.path() / "site-packages/nvidia";
    for (const auto& package : fs::directory_iterator(nvidia, ignored))
      folders.push_back(package.path() / "lib");
  }
}

std::vector<fs::path> candidates() {
  std::vector<fs::path> folders;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* root = std::getenv(variable); root && *root) add_toolkit(folders, root);
  for (const char* root : {"/usr/local/cuda", "/opt/cuda"}) add_toolkit(folders, root);
  if (const char* active = std::getenv("VIRTUAL_ENV"); active && *active) add_wheels(folders, active);
  std::error_code ignored;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
       folder.has_relative_path(); folder = folder.parent_path())
    add_wheels(folders, folder / ".venv");
  return folders;
}

}  // namespace

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
    if (const fs::path path = fs::path(folder) / file; fs::exists(path, ignored))
      paths.push_back(path.string());
  paths.emplace_back(file);
  return paths;
}

}  // namespace attnprof
