#include "base/installation.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/error.hpp"
#include "base/trusted_path.hpp"

namespace attnprof {
namespace fs = std::filesystem;
namespace {

bool holds_kernels(const fs::path& directory) {
  std::error_code ignored;
  return fs::exists(directory / "attention_params.h", ignored);
}

std::string trusted_kernels(const fs::path& directory) {
  require_trusted(directory, "the kernel sources' folder");
  return fs::canonical(directory).string();
}

std::vector<fs::path> sorted_children(const fs::path& directory) {
  std::vector<fs::path> children;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end; entry.increment(error))
    children.push_back(entry->path());
  std::ranges::sort(children);
  return children;
}

}  // namespace

ProgramHome program_home(const fs::path& program_folder) {
  std::string tree;
  if (std::getline(std::ifstream(program_folder / "source_tree.txt"), tree) && !tree.empty()) {
    const fs::path source = (program_folder / tree).lexically_normal();
    return {source / "kernels", source / ".venv"};
  }
  const fs::path prefix = program_folder.parent_path();
  return {prefix / "share/attnprof/kernels", prefix};
}

fs::path program_folder() {
  std::error_code error;
  Dl_info info{};
  link_map* library = nullptr;  // what this code is part of: in a traced process a library of attnprof's
  const bool found = dladdr1(reinterpret_cast<void*>(&program_folder), &info,
                             reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) != 0;
  if (found && library && library->l_name && *library->l_name)
    return fs::canonical(library->l_name, error).parent_path();
  return fs::read_symlink("/proc/self/exe", error).parent_path();
}

std::string find_kernels_dir(const std::string& option) {
  if (!option.empty()) {
    if (!holds_kernels(option))
      throw UsageError(fmt::format(
          "--kernels {}: there is no attention_params.h in it; give the directory of kernel sources",
          option));
    return trusted_kernels(option);
  }
  const fs::path kernels = program_home(program_folder()).kernels;
  if (!holds_kernels(kernels))
    throw EnvironmentError(
        fmt::format("the kernel sources are not where this program's are, in {}; name their directory with "
                    "--kernels, or build or install attnprof again",
                    kernels.string()));
  return trusted_kernels(kernels);
}

std::vector<fs::path> wheel_toolkits(const fs::path& environment) {
  std::vector<fs::path> roots;
  for (const fs::path& python : sorted_children(environment / "lib"))
    for (const char* packages : {"site-packages", "dist-packages"})
      for (fs::path& part : sorted_children(python / packages / "nvidia")) roots.push_back(std::move(part));
  return roots;
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  if (const char* home = std::getenv("CUDA_HOME"); home && *home) roots.push_back(fs::absolute(home));
  roots.emplace_back("/usr/local/cuda");
  roots.emplace_back("/opt/cuda");
  const auto add = [&roots](const fs::path& environment) {
    for (fs::path& root : wheel_toolkits(environment)) roots.push_back(std::move(root));
  };
  if (const char* environment = std::getenv("VIRTUAL_ENV"); environment && *environment)
    add(fs::absolute(environment));
  add(program_home(program_folder()).python_environment);
  return roots;
}

}  // namespace attnprof
