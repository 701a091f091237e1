#include "base/installation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/error.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

bool holds_kernels(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / "attention_params.h", ignored);
}

std::vector<fs::path> sorted_children(const fs::path& directory) {
  std::vector<fs::path> children;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    children.push_back(entry->path());
  std::ranges::sort(children);
  return children;
}

// A Python environment's wheels put each toolkit part, or since CUDA 13 the whole, into nvidia/<part>.
void add_wheel_roots(const fs::path& environment, std::vector<fs::path>& roots) {
  for (const fs::path& python : sorted_children(environment / "lib")) {
    const fs::path wheels = python / "site-packages" / "nvidia";
    for (const fs::path& part : sorted_children(wheels)) roots.push_back(part);
  }
}

}  // namespace

std::vector<fs::path> program_ancestors() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  std::vector<fs::path> ancestors;
  if (error) return ancestors;
  for (fs::path path = program.parent_path(); path != path.root_path(); path = path.parent_path())
    ancestors.push_back(path);
  return ancestors;
}

std::string find_kernels_dir(const std::string& option) {
  if (!option.empty()) {
    if (!holds_kernels(option))
      throw UsageError(fmt::format(
          "--kernels {}: there is no attention_params.h in it; give the directory of kernel sources",
          option));
    return fs::canonical(option).string();
  }
  const std::vector<fs::path> ancestors = program_ancestors();
  std::vector<fs::path> candidates;
  if (!ancestors.empty()) candidates.push_back(ancestors.front().parent_path() / "share/attnprof/kernels");
  for (const fs::path& path : ancestors) candidates.push_back(path / "kernels");
  const auto found = std::ranges::find_if(candidates, holds_kernels);
  if (found == candidates.end())
    throw EnvironmentError(
        fmt::format("the kernel sources were not found beside the program ({}); name "
                    "their directory with --kernels",
                    ancestors.empty() ? "unknown" : ancestors.front().string()));
  return fs::canonical(*found).string();
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  if (const char* home = std::getenv("CUDA_HOME"); home && *home) roots.emplace_back(home);
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back("/opt/cuda");
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    add_wheel_roots(environment, roots);
  const std::vector<fs::path> ancestors = program_ancestors();
  if (!ancestors.empty()) add_wheel_roots(ancestors.front().parent_path() / "share/attnprof/.venv", roots);
  for (const fs::path& path : ancestors) add_wheel_roots(path / ".venv", roots);
  return roots;
}

}  // namespace attnprof
