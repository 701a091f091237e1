#include "base/program_path.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

namespace attnprof {
namespace fs = std::filesystem;

std::vector<std::string> in_path(const std::string& name) {
  std::vector<std::string> paths;
  const char* path = std::getenv("PATH");
  std::istringstream parts(path ? path : "");
  for (std::string part; std::getline(parts, part, ':');)
    if (part.starts_with('/')) paths.push_back((fs::path(part) / name).string());
  return paths;
}

bool is_program(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

}  // namespace attnprof
